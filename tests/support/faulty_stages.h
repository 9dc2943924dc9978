#pragma once

// Stage types that go wrong in every way a stage can, for tests of the runtime: consumers whose
// parameter `how` says what they do.

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <brigade/stage_types.h>

namespace brigade {

/// Calls of process() of all faulty stages that are threads of this program.
inline std::atomic<int> faulty_calls{0};

struct FaultyParams {
  std::string open = "fine";     ///< fine, crash, fail, throw, exit, hang
  std::string process = "fine";  ///< and: nap, print, leave_child, report, stop
};

inline Result<void> misbehave(const std::string& how) {
  if (how == "crash") std::raise(SIGSEGV);
  if (how == "fail") return Error{"it failed as told"};
  if (how == "throw") throw std::runtime_error("it threw as told");
  if (how == "exit") std::exit(3);
  if (how == "quiet_exit") _exit(0);
  while (how == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
  if (how == "nap") std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (how == "print") {
    std::fputs("printed to stdout\n", stdout);
    std::fputs("printed to stderr\nand no end of line", stderr);
  }
  if (how == "stop") std::raise(SIGSTOP);
  return {};
}

class Faulty : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    params_ = context.params<FaultyParams>();
    reporter_ = context.reporter;
    return misbehave(params_.open);
  }
  Result<Next> process(const Inputs&, Outputs&) override {
    ++faulty_calls;
    if (params_.process == "leave_child" && calls_ == 0) leave_child();
    if (params_.process == "report") reporter_->report("calls", ++calls_);
    BRIGADE_TRY(misbehave(params_.process));
    return Next::emit;
  }

 private:
  // A process that outlives the stage and holds its output.
  void leave_child() {
    ++calls_;
    if (fork() == 0) {
      sleep(60);
      _exit(0);
    }
  }

  FaultyParams params_;
  Reporter* reporter_ = nullptr;
  std::uint64_t calls_ = 0;
};

/// Throws what no handler for std::exception sees, before it could say anything.
class ThrowsWhenMade : public Stage {
 public:
  ThrowsWhenMade() { throw 17; }
  Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
};
struct ThrowsWhenMadeParams {};

struct SavingParams {
  std::int64_t crash_at = -1;  ///< id of a sample
};

/// Counts samples, saves that, and crashes at one of them, whenever it comes.
class Saving : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    params_ = context.params<SavingParams>();
    reporter_ = context.reporter;
    samples_ = context.saved.size();
    return {};
  }
  Result<Next> process(const Inputs& in, Outputs&) override {
    if (static_cast<std::int64_t>(in.info().id) == params_.crash_at) std::raise(SIGSEGV);
    reporter_->report("samples", ++samples_);
    return Next::emit;
  }
  Result<std::string> save() override { return std::string(samples_, '+'); }

 private:
  SavingParams params_;
  Reporter* reporter_ = nullptr;
  std::uint64_t samples_ = 0;
};

inline StageTypes faulty_stage_types() {
  StageTypes types;
  types.add<Saving>(Contract<SavingParams>("saving", "Saves how many samples it has seen.")
                        .consumer()
                        .saves()
                        .param("crash_at", &SavingParams::crash_at, -1, 1e9, "the id of a sample")
                        .reports("samples", Combine::sum, "samples seen"));
  types.add<ThrowsWhenMade>(
      Contract<ThrowsWhenMadeParams>("throws_when_made", "Throws in its constructor.").consumer());
  types.add<Faulty>(Contract<FaultyParams>("faulty", "Goes wrong as it is told.")
                        .consumer()
                        .takes(Takes::either)
                        .param("open", &FaultyParams::open, "how to open")
                        .param("process", &FaultyParams::process, "how to work")
                        .reports("calls", Combine::sum, "calls", true));
  return types;
}

}  // namespace brigade
