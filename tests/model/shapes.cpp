#include "tests/model/shapes.h"

namespace brigade::model {

Stages edge(int writers, int readers, int rows, int samples) {
  return {{.name = "src", .replicas = writers, .rows = rows, .size = samples},
          {.name = "sink", .inputs = {0}, .replicas = readers}};
}

Stages line(int middle, int rows, int samples) {
  return {{.name = "src", .rows = rows, .size = samples},
          {.name = "mid", .inputs = {0}, .replicas = middle, .rows = rows},
          {.name = "sink", .inputs = {1}}};
}

Stages task_sizes(Stages edge, int writer, int reader) {
  edge[0].task_size = writer;
  edge[1].task_size = reader;
  return edge;
}

Stages broadcast(int writers, int readers, int samples) {
  return {{.name = "src", .replicas = writers, .rows = 2, .size = samples},
          {.name = "left", .inputs = {0}, .replicas = readers},
          {.name = "right", .inputs = {0}}};
}

Stages zip(int sources, int readers, int samples) {
  return {{.name = "left", .replicas = sources, .rows = 2, .size = samples},
          {.name = "right", .rows = 2, .size = samples},
          {.name = "zip", .inputs = {0, 1}, .replicas = readers}};
}

Stages epochs_of_two(int readers, int samples_a, int samples_b) {
  return {{.name = "a", .rows = 2, .size = samples_a},
          {.name = "b", .rows = 1, .size = samples_b},
          {.name = "sink", .inputs = {0, 1}, .replicas = readers, .epochs = true}};
}

Stages merge(int samples_a, int samples_b, int rows, int batch) {
  return {{.name = "a", .rows = 1, .size = samples_a},
          {.name = "b", .rows = 1, .size = samples_b},
          {.name = "merge", .inputs = {0, 1}, .rows = rows, .free = true},
          {.name = "sink", .inputs = {2}, .task_size = batch}};
}

Stages repack(int samples, int rows, int batch) {
  return {{.name = "src", .rows = 2, .size = samples},
          {.name = "repack", .inputs = {0}, .rows = rows, .free = true},
          {.name = "sink", .inputs = {1}, .task_size = batch}};
}

Stages doubling(Stages stages, size_t stage, uint16_t samples) {
  stages[stage].doubled = samples;
  return stages;
}

Stages filtering(Stages stages, size_t stage, uint16_t samples) {
  stages[stage].filtered = samples;
  return stages;
}

Stages failing(Stages stages, size_t stage, uint16_t samples) {
  stages[stage].failing = samples;
  return stages;
}

Stages poisoned(Stages stages, size_t stage, uint16_t samples) {
  stages[stage].poison = samples;
  return stages;
}

Stages fixed(Stages stages, size_t stage) {
  stages[stage].fixed = true;
  return stages;
}

Stages with_words(Stages stages, size_t stage) {
  stages[stage].words = true;
  return stages;
}

Stages immortal_ends(Stages stages) {
  for (StageSpec& stage : stages) stage.mortal = !stage.inputs.empty() && stage.rows > 0;
  return stages;
}

Stages with_writers(Stages stages, int replicas) {
  stages[0].replicas = replicas;
  return stages;
}

Stages with_second_reader(Stages stages) {
  stages.push_back(stages.back());
  stages.back().name = "other";
  return stages;
}

Stages streaming(Stages stages) {
  stages[0].stream = true;
  return stages;
}

Stages zip_of_long_way(int rows, int samples) {
  return {{.name = "src", .rows = rows, .size = samples},
          {.name = "a", .inputs = {0}, .task_size = 2, .rows = 4},
          {.name = "b", .inputs = {1}, .task_size = 4, .rows = 4},
          {.name = "zip", .inputs = {0, 2}}};
}

Stages resumed(Stages stages, size_t consumer, int start) {
  stages[consumer].start = start;
  return stages;
}

Stages with_samples(Stages stages, int samples) {
  stages[0].size = samples;
  return stages;
}

Stages with_rows(Stages stages, size_t stage, int rows) {
  stages[stage].rows = rows;
  return stages;
}

}  // namespace brigade::model
