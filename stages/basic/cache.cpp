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
      Contract<CacheParams>("cache",
                            "Keeps the samples of one epoch, and gives them in every epoch.")
          .transform()
          .param("samples", &CacheParams::samples, 0, 1ll << 47,
                 "room for so many; 0: for all of its source, where that can tell how many it has")
          .param("file", &CacheParams::file,
                 "keeps them in this file, which later runs use again; not given: in memory")
          .caches([](const CacheParams& params) -> std::optional<std::uint64_t> {
            if (params.samples == 0) return std::nullopt;
            return params.samples;
          })
          .rest_passes()
          .example("transform: cache\nfrom: decoded\nshuffle: true\n"));
}

}  // namespace brigade
