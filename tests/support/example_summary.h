#pragma once

// A small run that has ended, for tests of what is said about it.

#include <cmath>

#include "pipeline/stats/summary.h"

namespace brigade {

inline RunSummary example_summary() {
  StageFigures images;
  images.name = "images";
  images.kind = StageKind::producer;
  images.replicas = 2;
  images.samples = 2000;
  images.busy_ns = 400'000'000;
  images.wait_out_ns = 3'600'000'000;
  images.skipped = 7;
  StageFigures train;
  train.name = "train";
  train.kind = StageKind::consumer;
  train.samples = 2000;
  train.busy_ns = 3'000'000'000;
  train.wait_in_ns = 1'000'000'000;
  train.restarts = 1;

  RunSummary summary;
  summary.figures.stages = {images, train};
  summary.figures.samples = 2000;
  summary.figures.epochs = 2;
  summary.seconds = 4;
  summary.first_sample_seconds = 0.05;
  summary.sources = {{"images",
                      1000,
                      {{LeftOutWhy::limit, 200, "behind `limit:`"},
                       {LeftOutWhy::no_match, 3, "files that are no images"}}},
                     {"lines", std::nullopt, {}}};
  EdgeAudit audit;
  audit.produced = 2000;
  audit.delivered = 1990;
  audit.dropped = 7;
  audit.quarantined = 3;
  summary.edges = {{"images", "train", audit}};
  summary.results = {{"images", {}},
                     {"train",
                      {{"loss", 0.25, true},
                       {"checksum", std::nullopt, false},
                       {"set_checksum", std::uint64_t{0xbeef}, false}}}};
  return summary;
}

}  // namespace brigade
