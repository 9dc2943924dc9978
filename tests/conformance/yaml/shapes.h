#pragma once

// Every shape of line, as YAML: R stands for the number of replicas, B for the size of a batch.

#include "tests/conformance/yaml/shape_yaml.h"

namespace brigade::conformance {

inline constexpr ShapeOfLine kShapes[] = {
    {"OneToOne", R"(
  numbers: {producer: synthetic, params: {count: 150, shape: [3]}, shuffle: true}
  work: {transform: digest, from: numbers}
  end: {consumer: record, from: {stage: work, batch: B}, params: {folder: "${RECORDS}"}}
)"},
    {"Samples", R"(
  numbers: {producer: synthetic, params: {count: 150, shape: [5], fill: random}, shuffle: true,
            replicas: R}
  work: {transform: shift, from: numbers, replicas: R}
  end: {consumer: record, from: work, chunk: B, replicas: R, params: {folder: "${RECORDS}"}}
)"},
    {"SeveralToSeveral", R"(
  numbers: {producer: synthetic, params: {count: 150, shape: [3]}, shuffle: true, replicas: R}
  work: {transform: digest, from: numbers, replicas: R}
  again: {transform: digest, from: {stage: work, batch: B}, replicas: R}
  end: {consumer: record, from: {stage: again, batch: B}, replicas: R,
        params: {folder: "${RECORDS}"}}
)"},
    {"Broadcast", R"(
  numbers: {producer: synthetic, params: {count: 150, shape: [3]}, shuffle: true, replicas: R}
  work: {transform: digest, from: numbers, replicas: R}
  end: {consumer: record, from: {stage: work, batch: B}, replicas: R,
        params: {folder: "${RECORDS}"}}
  other: {consumer: record, from: {stage: work, batch: 16}, params: {folder: "${RECORDS}"}}
  one: {consumer: record, from: numbers.data, params: {folder: "${RECORDS}"}}
)"},
    {"Zip", R"(
  left: {producer: synthetic, params: {count: 150, shape: [3]}, shuffle: true, replicas: R}
  right: {producer: synthetic, params: {count: 150, fill: random, dtype: f32}, shuffle: true}
  work: {transform: digest, from: left, replicas: R}
  pair: {transform: digest, from: [work, right], join: zip, drop: [right.data], replicas: R}
  end: {consumer: record, from: {a: {stage: pair, batch: B}, b: right, c: left}, join: zip,
        params: {folder: "${RECORDS}"}}
)"},
    {"ZipPastLargeBatches", R"(
  numbers: {producer: synthetic, params: {count: 300, shape: [20000], dtype: u8}, shuffle: true,
            chunk: 1}
  small: {transform: digest, from: {stage: numbers, batch: B}, drop: data, replicas: R}
  large: {transform: digest, from: {stage: small, batch: 112}, random: large}
  end: {consumer: record, from: {a: {stage: large, batch: 16}, b: numbers}, join: zip, replicas: R,
        params: {folder: "${RECORDS}"}}
)"},
    {"Epochs", R"(
  train: {producer: synthetic, params: {count: 150}, shuffle: true, replicas: R}
  test: {producer: synthetic, params: {count: 40, dtype: u8}, batch: 16}
  work: {transform: digest, from: train, replicas: R}
  end: {consumer: record, from: {train: {stage: work, batch: B}, test: test}, join: epochs,
        replicas: R, params: {folder: "${RECORDS}"}}
  sum: {consumer: count, from: [{stage: train, batch: 16}, test], join: epochs, replicas: R}
)"},
    {"Merge", R"(
  few: {producer: synthetic, params: {count: 40}, replicas: R}
  many: {producer: synthetic, params: {count: 150}, shuffle: true}
  work: {transform: shift, from: many, replicas: R}
  end: {consumer: record, from: [{stage: few, batch: B}, {stage: work, batch: 16}], join: merge,
        replicas: R, params: {folder: "${RECORDS}"}}
)"},
    {"Fixed", R"(
  numbers: {producer: synthetic, params: {count: 150}, shuffle: true, replicas: R}
  work: {transform: digest, from: numbers, replicas: R, assign: fixed}
  end: {consumer: record, from: {stage: work, batch: B}, assign: fixed, replicas: R,
        params: {folder: "${RECORDS}"}}
  whole: {consumer: record, from: {stage: work, batch: B}, assign: fixed, replicas: R,
          drop_last: true, params: {folder: "${RECORDS}"}}
  one: {consumer: record, from: numbers, assign: fixed, replicas: R,
        params: {folder: "${RECORDS}"}}
)"},
    {"Filters", R"(
  numbers: {producer: synthetic, params: {count: 150, shape: [3]}, shuffle: true, replicas: R}
  sifted: {transform: sift, from: numbers, params: {every: 4, rest: 2, chance: 0.2}, replicas: R}
  failed: {transform: delay, from: sifted, params: {fail_at: [3, 5, 70]}, on_error: {skip: 3}}
  work: {transform: digest, from: {stage: failed, batch: B}, replicas: R}
  tossed: {transform: toss, from: {stage: work, batch: B}, params: {every: 5}, replicas: R}
  end: {consumer: record, from: {stage: tossed, batch: B}, replicas: R,
        params: {folder: "${RECORDS}"}}
  all: {consumer: record, from: {all: {stage: numbers, batch: B}, some: work}, join: zip,
        params: {folder: "${RECORDS}"}}
)"},
    {"DropLast", R"(
  numbers: {producer: synthetic, params: {count: 150, shape: [3]}, shuffle: true, replicas: R}
  work: {transform: digest, from: {stage: numbers, batch: B}, drop_last: true, replicas: R}
  end: {consumer: record, from: {stage: work, batch: B}, replicas: R,
        params: {folder: "${RECORDS}"}}
  other: {consumer: record, from: {stage: numbers, batch: 16}, drop_last: true,
          params: {folder: "${RECORDS}"}}
)"},
    {"EmptySlotsInZips", R"(
  first: {producer: synthetic, params: {count: 150}, replicas: R}
  other: {producer: synthetic, params: {count: 150}, shuffle: true, replicas: R}
  whole: {transform: digest, from: {stage: first, batch: B}, drop_last: true, replicas: R}
  failed: {transform: delay, from: other, params: {fail_at: [3, 5]}, on_error: {skip: 2}}
  sifted: {transform: sift, from: failed, replicas: R}
  pairs: {transform: split, from: {a: {stage: other, batch: B}, b: {stage: whole, batch: B}},
          join: zip, replicas: R}
  end: {consumer: record, from: {a: {stage: pairs, batch: B}, b: sifted, c: first}, join: zip,
        replicas: R, params: {folder: "${RECORDS}"}}
)"},
    {"SeveralOutputs", R"(
  numbers: {producer: synthetic, params: {count: 150, shape: [3]}, shuffle: true, replicas: R}
  parts: {transform: split, from: {stage: numbers, batch: B}, replicas: R}
  low: {transform: digest, from: parts.low, replicas: R}
  few: {transform: digest, from: {stage: parts, batch: B}, keep: [words, high], replicas: R}
  fewer: {transform: passthrough, from: few, drop: [digest], replicas: R}
  end: {consumer: record, from: {low: {stage: low, batch: B}, few: fewer, words: parts.words},
        join: zip, params: {folder: "${RECORDS}"}}
)"},
    {"Fused", R"(
  numbers: {producer: synthetic, params: {count: 150, shape: [3]}, shuffle: true, replicas: R}
  work: {transform: [shift, digest, {sift: {every: 5}}, digest], from: numbers, replicas: R}
  batches: {transform: [digest, shift], from: {stage: work, batch: B}, random: own, replicas: R}
  end: {consumer: record, from: {stage: batches, batch: B}, replicas: R,
        params: {folder: "${RECORDS}"}}
)"},
    {"Ragged", R"(
  words: {producer: synthetic, params: {count: 150, shape: [9, 2], vary: true, fill: random},
          shuffle: true, replicas: R}
  work: {transform: shift, from: words, replicas: R}
  batches: {transform: shift, from: {stage: work, batch: B}, replicas: R}
  sifted: {transform: sift, from: batches, replicas: R}
  both: {transform: split, from: [work, sifted], join: zip, replicas: R}
  end: {consumer: record, from: {a: {stage: both, batch: B}, b: sifted}, join: zip, replicas: R,
        params: {folder: "${RECORDS}"}}
  samples: {consumer: record, from: both, params: {folder: "${RECORDS}"}}
)"},
    {"SeveralOfEach", R"(
  numbers: {producer: synthetic, params: {count: 50, shape: [3]}, shuffle: true, replicas: R}
  twice: {transform: repeat, from: numbers, params: {times: 2}, replicas: R}
  work: {transform: shift, from: twice, replicas: R}
  end: {consumer: record, from: {stage: work, batch: B}, replicas: R,
        params: {folder: "${RECORDS}"}}
  batches: {transform: pieces, from: {stage: work, batch: B}, replicas: R}
  many: {consumer: record, from: {stage: batches, batch: 16}, replicas: R,
         params: {folder: "${RECORDS}"}}
  once: {consumer: record, from: numbers, params: {folder: "${RECORDS}"}}
)"},
    {"ZipOfSeveralOfEach", R"(
  numbers: {producer: synthetic, params: {count: 50, shape: [3], vary: true}, shuffle: true,
            replicas: R}
  other: {producer: synthetic, params: {count: 50}, replicas: R}
  pieces: {transform: pieces, from: {stage: numbers, batch: B}, replicas: R}
  thrice: {transform: repeat, from: numbers, params: {times: 3}, replicas: R}
  sifted: {transform: sift, from: thrice, replicas: R}
  others: {transform: repeat, from: other, params: {times: 3}, replicas: R}
  end: {consumer: record, from: {a: {stage: pieces, batch: B}, b: sifted, c: others}, join: zip,
        replicas: R, params: {folder: "${RECORDS}"}}
)"},
    {"EmptySlotsOfSeveral", R"(
  numbers: {producer: synthetic, params: {count: 50}, shuffle: true, replicas: R}
  sifted: {transform: sift, from: numbers, replicas: R}
  failed: {transform: delay, from: sifted, params: {fail_at: [3, 5]}, on_error: {skip: 2}}
  twice: {transform: repeat, from: {stage: failed, batch: B}, params: {times: 2}, replicas: R,
          drop_last: true}
  pieces: {transform: pieces, from: twice, params: {count: 2}, drop: data, replicas: R}
  fails: {transform: delay, from: pieces, params: {fail_at: [0, 1, 42]}, on_error: {skip: 3}}
  end: {consumer: record, from: {stage: fails, batch: B}, replicas: R, drop_last: true,
        params: {folder: "${RECORDS}"}}
)"},
    {"EpochsOfSeveral", R"(
  train: {producer: synthetic, params: {count: 50}, shuffle: true, replicas: R}
  test: {producer: synthetic, params: {count: 40, dtype: u8}, batch: 16}
  thrice: {transform: repeat, from: train, params: {times: 3}, replicas: R, assign: fixed}
  end: {consumer: record, from: {train: {stage: thrice, batch: B}, test: test}, join: epochs,
        replicas: R, params: {folder: "${RECORDS}"}}
  both: {consumer: record, join: merge,
         from: {once: {stage: train, batch: 16}, thrice: {stage: thrice, batch: B}},
         params: {folder: "${RECORDS}"}}
)"},
    {"Cache", R"(
  numbers: {producer: synthetic, params: {count: 150, shape: [3]}, limit: 140, shuffle: true,
            replicas: R}
  work: {transform: shift, from: numbers, replicas: R}
  kept: {transform: cache, from: work, shuffle: true, seed: 3, replicas: R}
  below: {transform: shift, from: kept, replicas: R, random: again}
  end: {consumer: record, from: {stage: below, batch: B}, replicas: R,
        params: {folder: "${RECORDS}"}}
  once: {consumer: record, from: {stage: work, batch: B}, replicas: R,
         params: {folder: "${RECORDS}"}}
)"},
    {"CacheOfEmptySlotsAndRagged", R"(
  words: {producer: synthetic, params: {count: 50, shape: [9, 2], vary: true, fill: random},
          shuffle: true, replicas: R}
  sifted: {transform: sift, from: words, replicas: R}
  failed: {transform: delay, from: sifted, params: {fail_at: [3, 5]}, on_error: {skip: 2}}
  pieces: {transform: pieces, from: failed, replicas: R}
  kept: {transform: cache, from: pieces, replicas: R}
  few: {transform: cache, from: kept, limit: 77, replicas: R}
  end: {consumer: record, from: {stage: few, batch: B}, drop_last: true, replicas: R,
        params: {folder: "${RECORDS}"}}
  other: {transform: repeat, from: few, params: {times: 2}}
  twice: {consumer: record, from: {stage: other, batch: 16}, params: {folder: "${RECORDS}"}}
)"},
    {"CacheInEpochs", R"(
  train: {producer: synthetic, params: {count: 150}, shuffle: true, replicas: R}
  kept: {transform: cache, from: train, shuffle: true, replicas: R}
  test: {producer: synthetic, params: {count: 40, dtype: u8}}
  kept_test: {transform: cache, from: test.data, batch: 16}
  end: {consumer: record, from: {train: {stage: kept, batch: B}, test: kept_test}, join: epochs,
        replicas: R, params: {folder: "${RECORDS}"}}
  merged: {consumer: record, from: [{stage: train, batch: B}, {stage: kept, batch: 16}],
           join: merge, replicas: R, params: {folder: "${RECORDS}"}}
  uneven: {consumer: record, from: [{stage: kept, batch: 16}, {stage: test, batch: B}],
           join: epochs, replicas: R, params: {folder: "${RECORDS}"}}
)"},
    {"PartsOfASource", R"(
  train: {producer: synthetic, params: {count: 160, shape: [3]}, shuffle: true, replicas: R,
          split: {train: 0.8, test: 5%, seed: 1}, part: train, limit: 90%}
  val: {producer: synthetic, params: {count: 160, shape: [3]}, skip: 10, limit: 11, batch: 16}
  test: {producer: synthetic, params: {count: 160, shape: [3]}, shuffle: true, replicas: R,
         split: {train: 0.8, test: 5%, seed: 1}, part: val}
  work: {transform: shift, from: test, replicas: R}
  twice: {transform: repeat, from: work, params: {times: 2}, replicas: R}
  kept: {transform: cache, from: twice, shuffle: true, replicas: R}
  below: {transform: shift, from: kept, random: again, batch: 16}
  end: {consumer: record, from: {train: {stage: train, batch: B}, val: val, test: below},
        join: epochs, replicas: R, params: {folder: "${RECORDS}"}}
)"},
    {"Weighted", R"(
  numbers: {producer: synthetic, params: {count: 40, shape: [3], fill: random}, shuffle: true,
            weights: "${WEIGHTS_40}", samples: 150, replicas: R}
  tail: {producer: synthetic, params: {count: 60}, weights: "${WEIGHTS_60}", skip: 10, limit: 33}
  work: {transform: digest, from: numbers, replicas: R}
  some: {transform: delay, from: numbers, params: {fail_at: [3, 43, 50]}, on_error: {skip: 3},
         replicas: R}
  many: {producer: synthetic, params: {count: 400}, skip: 3, split: {a: 0.8}, part: a}
  most: {producer: synthetic, params: {count: 60}, weights: "${WEIGHTS_60}"}
  mixed: {mix: {many: 0.7, most: 0.3, tail: 0}, shuffle: true, samples: 150, replicas: R}
  left: {transform: delay, from: mixed, params: {fail_at: [3, 319]}, on_error: {skip: 3}}
  end: {consumer: record, from: {stage: work, batch: B}, params: {folder: "${RECORDS}"}}
  few: {consumer: record, from: {a: {stage: some, batch: B}, b: {stage: tail, batch: B},
        c: {stage: left, batch: B}}, join: epochs, params: {folder: "${RECORDS}"}}
)"},
    {"Counted", R"(
  numbers: {producer: synthetic, params: {count: 150, shape: [3]}, limit: 101, shuffle: true,
            seed: 9, replicas: R}
  work: {transform: digest, from: numbers, replicas: R}
  end: {consumer: count, from: {stage: work, batch: B}}
)"},
};

}  // namespace brigade::conformance
