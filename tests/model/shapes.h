#pragma once

// Small graphs that the scenarios are made of.

#include <vector>

#include "tests/model/scenario.h"

namespace brigade::model {

using Stages = std::vector<StageSpec>;

// src -> sink with one-sample tasks.
Stages edge(int writers, int readers, int slots, int samples);
// src -> mid -> sink.
Stages line(int middle, int slots, int samples);
// src -> sink with other task sizes.
Stages task_sizes(Stages edge, int writer, int reader);
// Two readers of one source: the first has `readers` replicas.
Stages broadcast(int writers, int readers, int samples);
// Two sources, joined number by number.
Stages zip(int sources, int readers, int samples);
// Two sources a and b; the consumer reads an epoch of a, then one of b, and so on.
Stages epochs_of_two(int readers, int samples_a, int samples_b);

// The same graph with a stage changed.
Stages filtering(Stages stages, size_t stage, uint16_t samples);
Stages failing(Stages stages, size_t stage, uint16_t samples);
Stages poisoned(Stages stages, size_t stage, uint16_t samples);
Stages fixed(Stages stages, size_t stage);
Stages with_words(Stages stages, size_t stage);
Stages streaming(Stages stages);  // the first stage does not know its end
// src -> a (tasks of 2) -> b (tasks of 4) -> zip, which also reads src, whose ring has `slots`.
Stages zip_of_long_way(int slots, int samples);
Stages with_samples(Stages stages, int samples);  // of the first stage: no multiple of L
Stages with_slots(Stages stages, size_t stage, int slots);

}  // namespace brigade::model
