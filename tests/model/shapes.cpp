#include "tests/model/shapes.h"

namespace brigade::model {

Stages edge(int writers, int readers, int slots, int samples) {
  return {{.name = "src", .replicas = writers, .slots = slots, .size = samples},
          {.name = "sink", .inputs = {0}, .replicas = readers}};
}

Stages line(int middle, int slots, int samples) {
  return {{.name = "src", .slots = slots, .size = samples},
          {.name = "mid", .inputs = {0}, .replicas = middle, .slots = slots},
          {.name = "sink", .inputs = {1}}};
}

Stages task_sizes(Stages edge, int writer, int reader) {
  edge[0].task_size = writer;
  edge[1].task_size = reader;
  return edge;
}

Stages broadcast(int writers, int readers, int samples) {
  return {{.name = "src", .replicas = writers, .slots = 2, .size = samples},
          {.name = "left", .inputs = {0}, .replicas = readers},
          {.name = "right", .inputs = {0}}};
}

Stages zip(int sources, int readers, int samples) {
  return {{.name = "left", .replicas = sources, .slots = 2, .size = samples},
          {.name = "right", .slots = 2, .size = samples},
          {.name = "zip", .inputs = {0, 1}, .replicas = readers}};
}

Stages epochs_of_two(int readers, int samples_a, int samples_b) {
  return {{.name = "a", .slots = 2, .size = samples_a},
          {.name = "b", .slots = 1, .size = samples_b},
          {.name = "sink", .inputs = {0, 1}, .replicas = readers, .epochs = true}};
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

Stages streaming(Stages stages) {
  stages[0].stream = true;
  return stages;
}

Stages zip_of_long_way(int slots, int samples) {
  return {{.name = "src", .slots = slots, .size = samples},
          {.name = "a", .inputs = {0}, .task_size = 2, .slots = 4},
          {.name = "b", .inputs = {1}, .task_size = 4, .slots = 4},
          {.name = "zip", .inputs = {0, 2}}};
}

Stages with_samples(Stages stages, int samples) {
  stages[0].size = samples;
  return stages;
}

Stages with_slots(Stages stages, size_t stage, int slots) {
  stages[stage].slots = slots;
  return stages;
}

}  // namespace brigade::model
