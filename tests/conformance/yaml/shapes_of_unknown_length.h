#pragma once

// Shapes of lines whose epochs end where their data do: streams, and flat_map stages. R and B as in
// shapes.h.

#include <string_view>
#include <vector>

#include "tests/conformance/yaml/shapes.h"

namespace brigade::conformance {

inline constexpr ShapeOfLine kShapesOfUnknownLength[] = {
    {"Repack", R"(
  numbers: {producer: synthetic, params: {count: 150, shape: [3]}, shuffle: true, replicas: R}
  sifted: {transform: sift, from: numbers, params: {every: 4, rest: 2, chance: 0.2}, replicas: R}
  full: {transform: repack, from: sifted}
  work: {transform: digest, from: {stage: full, batch: B}, replicas: R}
  again: {transform: sift, from: work, random: again, replicas: R}
  fuller: {transform: repack, from: again}
  end: {consumer: record, from: {stage: fuller, batch: B}, replicas: R,
        params: {folder: "${RECORDS}"}}
  whole: {consumer: record, from: {stage: full, batch: B}, drop_last: true,
          params: {folder: "${RECORDS}"}}
  pairs: {consumer: record, from: {a: {stage: full, batch: B}, b: work}, join: zip, replicas: R,
          params: {folder: "${RECORDS}"}}
)"},
    {"RepackOfRagged", R"(
  words: {producer: synthetic, params: {count: 150, shape: [9, 2], vary: true, fill: random},
          shuffle: true, replicas: R}
  sifted: {transform: sift, from: words, replicas: R}
  full: {transform: repack, from: sifted, keep: data}
  pieces: {transform: pieces, from: full, params: {count: 2}, replicas: R}
  end: {consumer: record, from: {stage: pieces, batch: B}, replicas: R,
        params: {folder: "${RECORDS}"}}
)"},
    {"RepackAndEpochs", R"(
  train: {producer: synthetic, params: {count: 150}, shuffle: true, replicas: R}
  test: {producer: synthetic, params: {count: 40}, batch: 16}
  sifted: {transform: sift, from: train, params: {every: 3, chance: 0.3}, replicas: R}
  full: {transform: repack, from: sifted}
  end: {consumer: record, from: {train: {stage: full, batch: B}, test: test}, join: epochs,
        replicas: R, params: {folder: "${RECORDS}"}}
)"},
    {"MergeOfSeveral", R"(
  few: {producer: synthetic, params: {count: 40}, replicas: R}
  many: {producer: synthetic, params: {count: 150}, shuffle: true}
  work: {transform: shift, from: many, replicas: R}
  sifted: {transform: sift, from: work, replicas: R}
  all: {transform: merge, from: [few, sifted, many], join: merge}
  last: {transform: digest, from: all, replicas: R}
  end: {consumer: count, from: {stage: last, batch: B}, replicas: R}
)"},
    {"Streams", R"(
  drops: {producer: drip, params: {counts: [150, 9]}}
  work: {transform: digest, from: drops, replicas: R}
  sifted: {transform: sift, from: work, replicas: R}
  end: {consumer: record, from: {stage: sifted, batch: B, max_wait: 60s}, replicas: R,
        params: {folder: "${RECORDS}"}}
  full: {transform: repack, from: sifted}
  other: {consumer: record, from: {stage: full, batch: B}, replicas: R,
          params: {folder: "${RECORDS}"}}
)"},
    {"StreamsByEpochs", R"(
  drops: {producer: drip, params: {counts: [0, 77]}}
  work: {transform: digest, from: drops, replicas: R}
  again: {producer: drip, params: {counts: [7, 8]}}
  test: {producer: synthetic, params: {count: 40}, replicas: R}
  end: {consumer: record, from: {train: {stage: work, batch: B, max_wait: 60s},
        test: {stage: test, batch: 16}, again: {stage: again, batch: B, max_wait: 60s}},
        join: epochs, replicas: R, params: {folder: "${RECORDS}"}}
)"},
    // Epochs that need no padding: the number after the last one is the first of the next epoch,
    // and may be there before anybody can know whose it is.
    {"StreamsOfWholeBatches", R"(
  drops: {producer: drip, params: {counts: [B]}}
  work: {transform: digest, from: drops, replicas: R}
  test: {producer: synthetic, params: {count: 16}, replicas: R}
  end: {consumer: record, from: {train: {stage: work, batch: B, max_wait: 60s},
        test: {stage: test, batch: 16}}, join: epochs, replicas: R, params: {folder: "${RECORDS}"}}
  full: {transform: repack, from: drops}
  turns: {consumer: record, from: {train: {stage: full, batch: B}, test: {stage: test, batch: 16}},
          join: epochs, replicas: R, params: {folder: "${RECORDS}"}}
)",
     12},
    {"RepackOfWholeBatches", R"(
  numbers: {producer: synthetic, params: {count: B}, shuffle: true, replicas: R}
  full: {transform: repack, from: numbers}
  work: {transform: shift, from: full, replicas: R}
  fuller: {transform: repack, from: work}
  test: {producer: synthetic, params: {count: 16}, replicas: R}
  end: {consumer: record, from: {train: {stage: fuller, batch: B}, test: {stage: test, batch: 16}},
        join: epochs, replicas: R, params: {folder: "${RECORDS}"}}
  all: {transform: merge, from: [full, work], join: merge}
  last: {consumer: count, from: {stage: all, batch: B}, replicas: R}
)",
     12},
};

inline bool has(const ShapeOfLine& shape, std::string_view what) {
  return std::string_view(shape.stages).find(what) != std::string_view::npos;
}

inline std::vector<ShapeOfLine> shapes_that_resume() {
  std::vector<ShapeOfLine> all;
  for (const ShapeOfLine& shape : kShapes) all.push_back(shape);
  for (const ShapeOfLine& shape : kShapesOfUnknownLength)
    if (!has(shape, "drip") && !has(shape, "transform: merge")) all.push_back(shape);
  return all;
}

}  // namespace brigade::conformance
