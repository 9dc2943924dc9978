#include "stages/basic/basic_stages.h"

namespace brigade {
namespace {

struct CacheParams {
  std::uint64_t samples = 0;
  OutputPath file;
};

class Cache : public Stage {
 public:
  // The runtime does all of it (pipeline/worker/replica/work_cache).
  Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
};

}  // namespace

void add_cache(StageTypes& types) {
  types.add<Cache>(
      Contract<CacheParams>(
          "cache", "Stores the samples of the first epoch and outputs them in every epoch.")
          .transform()
          .param("samples", &CacheParams::samples, 0, 1ll << 47,
                 "capacity in samples; 0: all samples of the source, if their number is known")
          .param("file", &CacheParams::file,
                 "file that stores the samples and is reused by later runs; default: in memory")
          .caches([](const CacheParams& params) -> std::optional<std::uint64_t> {
            if (params.samples == 0) return std::nullopt;
            return params.samples;
          })
          .rest_passes()
          .example("transform: cache\nfrom: decoded\nshuffle: true\n"));
}

}  // namespace brigade
