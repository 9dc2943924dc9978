// A stage that forks at one sample: the child writes into that sample's output for ever, while the
// stage dies or goes on. What ends the child, or keeps it from the memory, can be switched off.

#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <brigade/plugin.h>
#include <brigade/text.h>

using namespace brigade;

namespace {

struct ForksParams {
  std::uint64_t at = 0;
  std::string folder;
  bool dies = true;
  bool writes = true;
  bool keeps_memory = false;
  bool leaves_group = false;
  bool clears_signal = false;
};

constexpr std::uintptr_t kPage = 4096;

class Forks : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    params_ = context.params<ForksParams>();
    return {};
  }

  Result<Next> process(const Inputs& in, Outputs& out) override {
    std::memcpy(out["data"].data(), in["data"].data(), out["data"].bytes());
    if (in.info().id == params_.at && !std::ifstream(child_file())) fork_at(out["data"]);
    return Next::emit;
  }

 private:
  std::string child_file() const { return params_.folder + "/child"; }

  void fork_at(const TensorSlot& row) {
    const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(row.data()) / kPage * kPage;
    const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(row.data()) + row.bytes();
    if (params_.keeps_memory) madvise(reinterpret_cast<void*>(first), end - first, MADV_DOFORK);
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    const pid_t child = fork();
    if (child == 0) write_for_ever(row, ends[1]);
    char ready;
    if (read(ends[0], &ready, 1) != 1) std::abort();  // else it might die before it has escaped
    std::ofstream(child_file()) << child;
    if (params_.dies) raise(SIGKILL);
  }

  [[noreturn]] void write_for_ever(const TensorSlot& row, int ready) const {
    if (params_.leaves_group) setsid();
    if (params_.clears_signal) prctl(PR_SET_PDEATHSIG, 0);
    if (write(ready, "x", 1) != 1) std::abort();
    for (;;) {
      usleep(50);
      if (params_.writes) std::memset(row.data(), 0xee, row.bytes());
    }
  }

  ForksParams params_;
};

}  // namespace

BRIGADE_PLUGIN(types) {
  types.add<Forks>(
      Contract<ForksParams>("forks", "Forks once.")
          .transform()
          .one_of({{"data", {}, true, {}, "what is copied"}})
          .param("at", &ForksParams::at, 0, 1e9, "the id of the sample")
          .param("folder", &ForksParams::folder, "where `child` is written, with its pid")
          .param("dies", &ForksParams::dies, "whether the stage dies then")
          .param("writes", &ForksParams::writes, "whether the child writes into the sample")
          .param("keeps_memory", &ForksParams::keeps_memory, "whether the child has the memory")
          .param("leaves_group", &ForksParams::leaves_group, "whether the child leaves the group")
          .param("clears_signal", &ForksParams::clears_signal,
                 "whether the child clears its death signal")
          .outputs([](const ForksParams&, const Ports& in) -> Result<Ports> {
            return Ports{*in.find("data")};
          }));
}
