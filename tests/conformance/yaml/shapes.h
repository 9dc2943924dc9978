#pragma once

// Shapes of lines, from the files beside this one, and their YAML: R stands for the number of
// replicas, B for the size of a batch.

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/text.h>

namespace brigade::conformance {

struct ShapeOfLine {
  std::string name;
  std::string stages;  ///< below `stages:`
  int epochs = 2;
};

/// Of yaml/FILE.txt: a shape follows its name, `=== NAME`, or `=== NAME EPOCHS`.
inline std::vector<ShapeOfLine> read_shapes(const std::string& file) {
  std::ifstream in(concat(BRIGADE_SOURCE_DIR, "/tests/conformance/yaml/", file, ".txt"));
  std::vector<ShapeOfLine> shapes;
  for (std::string line; std::getline(in, line);) {
    if (const auto title = strip_prefix(line, "=== ")) {
      const auto words = split(*title, ' ');
      shapes.push_back({std::string(words[0]), "\n", 2});
      if (words.size() > 1) shapes.back().epochs = std::stoi(std::string(words[1]));
    } else if (!line.starts_with("# ")) {
      shapes.back().stages += line + "\n";
    }
  }
  return shapes;
}

inline const std::vector<ShapeOfLine>& shapes() {
  static const std::vector<ShapeOfLine> all = read_shapes("shapes");
  return all;
}
inline const std::vector<ShapeOfLine>& shapes_of_unknown_length() {
  static const std::vector<ShapeOfLine> all = read_shapes("shapes_of_unknown_length");
  return all;
}
inline std::vector<ShapeOfLine> all_shapes() {
  std::vector<ShapeOfLine> all = shapes();
  all.insert(all.end(), shapes_of_unknown_length().begin(), shapes_of_unknown_length().end());
  return all;
}

inline bool has(const ShapeOfLine& shape, std::string_view what) {
  return shape.stages.find(what) != shape.stages.npos;
}

inline std::vector<ShapeOfLine> shapes_that_resume() {
  std::vector<ShapeOfLine> all = all_shapes();
  std::erase_if(all, [](const ShapeOfLine& shape) {
    return has(shape, "drip") || has(shape, "transform: merge");
  });
  return all;
}

/// Of a test whose parameter it is.
inline constexpr auto kNameOfShape = [](const auto& test) { return test.param.name; };

/// A shape as processes, or as threads.
struct ShapeCase {
  ShapeOfLine shape;
  bool in_process = false;
};
inline std::vector<ShapeCase> as_processes_and_threads(const std::vector<ShapeOfLine>& shapes) {
  std::vector<ShapeCase> all;
  for (const bool in_process : {false, true})
    for (const ShapeOfLine& shape : shapes) all.push_back({shape, in_process});
  return all;
}
inline constexpr auto kNameOfCase = [](const auto& test) {
  return test.param.shape.name + (test.param.in_process ? "_Threads" : "_Processes");
};

/// Words R and B that stand alone, after a colon or in brackets, are replaced.
inline std::string shape_yaml(const ShapeOfLine& shape, int replicas, int batch) {
  const std::string& stages = shape.stages;
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
