#pragma once

// Graphs with an interesting shape, for tests of drawings.

#include "tests/support/graph_builder.h"

namespace brigade {

/// A broadcast, a zip, an edge that skips layers, a producer beside, and two consumers.
inline GraphBuilder diamond_graph() {
  const TensorType image{"image", u8, {224, 224, 3}};
  const TensorType mask{"mask", u8, {224, 224}};
  GraphBuilder graph("diamond");
  graph.producer("images", {image});
  graph.producer("masks", {mask});
  graph.transform("flip", {"images"}, {image}).replicas = 4;
  graph.transform("blur", {"flip"}, {image}).replicas = 0;
  ValidStage& pair = graph.transform("pair", {"blur", "masks"}, {image, mask}, Join::zip);
  pair.replicas = 2;
  graph.consumer("train", {"pair"}).batched = true;
  graph.stage("train").sources[0].batch = 64;
  graph.consumer("watch", {"pair", "images"}, Join::zip);
  return graph;
}

}  // namespace brigade
