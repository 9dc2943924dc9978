#pragma once

// A shape of line, and its YAML: R stands for the number of replicas, B for the size of a batch.

#include <string>
#include <string_view>

#include <brigade/text.h>

namespace brigade::conformance {

struct ShapeOfLine {
  const char* name;
  const char* stages;  ///< below `stages:`
  int epochs = 2;
};

/// Words R and B that stand alone, after a colon or in brackets, are replaced.
inline std::string shape_yaml(const ShapeOfLine& shape, int replicas, int batch) {
  const std::string stages = shape.stages;
  std::string text = concat("seed: 7\nepochs: ", shape.epochs, "\nstages:");
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const bool value = (i > 1 && stages[i - 1] == ' ' && stages[i - 2] == ':') ||
                       (i > 0 && stages[i - 1] == '[' && stages[i + 1] == ']');
    if (value && stages[i] == 'R') {
      text += std::to_string(replicas);
    } else if (value && stages[i] == 'B') {
      text += std::to_string(batch);
    } else {
      text += stages[i];
    }
  }
  return text;
}

/// With consumers that keep their batches (`keep`) in the place of those that do not (`record`).
inline std::string keeping(std::string yaml) {
  const std::string_view record = "consumer: record";
  for (std::size_t at = 0; (at = yaml.find(record, at)) != yaml.npos;)
    yaml.replace(at, record.size(), "consumer: keep");
  return yaml;
}

}  // namespace brigade::conformance
