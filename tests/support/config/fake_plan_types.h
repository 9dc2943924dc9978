#pragma once

// Stage types of every form that the planner tells apart, of tensors of a few bytes: for graphs
// whose plans are looked at (tests/golden/plans).

#include <brigade/stage_types.h>
#include "tests/support/config/fake_types.h"

namespace brigade {

namespace fake {

struct BytesParams {
  std::int64_t size = 8;
  std::int64_t expected = 0;  ///< of a ragged tensor of at most `size`; 0: it is dense
  std::uint64_t count = 0;    ///< samples per epoch; 0: nobody knows
};
struct KeepParams {
  std::uint64_t samples = 0;
  OutputPath file;
};

inline Result<Ports> bytes_outputs(const BytesParams& params, const Ports&) {
  return Ports{
      {"x", u8, {params.expected > 0 ? up_to(params.size, params.expected) : Dim(params.size)}}};
}

inline void add_plan_producers(StageTypes& types) {
  add_application(types);
  types.add<NoProducer>(Contract<BytesParams>("bytes", "So many bytes a sample.")
                            .producer()
                            .param("size", &BytesParams::size, 1, 1e15, "bytes of a sample")
                            .param("expected", &BytesParams::expected, 0, 1e15, "mostly")
                            .param("count", &BytesParams::count, 0, 1e15, "samples")
                            .counts([](const BytesParams& params, const FileMetadata&) {
                              return params.count == 0 ? std::nullopt : std::optional(params.count);
                            })
                            .outputs(bytes_outputs));
  types.add<NoStage>(Contract<BytesParams>("feed", "A stream.").producer().outputs(bytes_outputs));
}

inline void add_plan_transforms(StageTypes& types) {
  types.add<NoStage>(Contract<BytesParams>("work", "Makes samples of another size.")
                         .transform()
                         .several_inputs()
                         .param("size", &BytesParams::size, 1, 1e15, "bytes of a sample")
                         .outputs(bytes_outputs));
  types.add<NoStage>(Contract<NoParams>("pass", "Hands them on.")
                         .transform()
                         .takes(Takes::either)
                         .several_inputs()
                         .rest_passes());
  types.add<NoStage>(
      Contract<NoParams>("filter", "May drop.").transform().may_drop().rest_passes());
  types.add<NoStage>(
      Contract<NoParams>("stateful", "Keeps state.").transform().stateful().rest_passes());
  add_several(types);
  types.add<NoStage>(Contract<SeveralParams>("repack", "Up to so many of each.")
                         .transform()
                         .takes(Takes::either)
                         .several_inputs()
                         .param("count", &SeveralParams::count, "of each")
                         .flat_map([](const SeveralParams& params) { return params.count; })
                         .rest_passes());
  types.add<NoStage>(Contract<KeepParams>("cache", "Keeps what it reads.")
                         .transform()
                         .param("samples", &KeepParams::samples, "room for so many")
                         .param("file", &KeepParams::file, "where")
                         .caches([](const KeepParams& params) {
                           return params.samples == 0 ? std::nullopt
                                                      : std::optional(params.samples);
                         })
                         .rest_passes());
}

}  // namespace fake

inline const StageTypes& fake_plan_types() {
  static const StageTypes types = [] {
    StageTypes list;
    fake::add_plan_producers(list);
    fake::add_plan_transforms(list);
    list.add<fake::NoStage>(Contract<fake::NoParams>("train", "Takes batches.")
                                .consumer()
                                .takes(Takes::batches)
                                .several_inputs());
    fake::add_count_and_show(list);
    return list;
  }();
  return types;
}

}  // namespace brigade
