#pragma once

// The graphs of configs/, for tests that do something with each of them. A file NAME.WORD.yaml lies
// over NAME.yaml and is no graph of its own. The data sets need not be there: their headers are
// written down here.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/config/validate/load_graph.h"
#include "stages/api/file_patterns.h"
#include "tests/support/config/fake_metadata.h"
#include "tests/support/file_text.h"

namespace brigade {

inline std::filesystem::path config_folder() {
  return std::filesystem::path(BRIGADE_SOURCE_DIR) / "configs";
}

inline FakeMetadata data_set_metadata() {
  using testing_support::idx_header;
  FakeMetadata metadata;
  const std::string folder = "/usr/share/datasets/fashion-mnist/";
  for (const auto& [name, count] : {std::pair{"train", 60'000u}, std::pair{"t10k", 10'000u}}) {
    metadata.file(folder + name + "-images-idx3-ubyte.gz", idx_header(8, {count, 28, 28}),
                  30'000'000, true);
    metadata.file(folder + name + "-labels-idx1-ubyte.gz", idx_header(8, {count}), 30'000, true);
  }
  metadata.folder("/usr/share/datasets/photos");
  const std::string datasets = "/usr/share/datasets/";
  for (const char* pattern :
       {"shards/train-{000..146}.tar", "cifar-10-batches-bin/data_batch_{1..5}.bin"}) {
    const auto files = expand_braces(datasets + pattern);
    for (const std::string& file : *files) metadata.file(file, "");
  }
  const auto array = [&](const char* name, std::string_view dtype, std::string_view shape,
                         std::uint64_t bytes) {
    const std::string header = testing_support::npy_header(dtype, shape);
    metadata.file(concat(datasets, "segmentation/", name, ".npy"), header, header.size() + bytes);
  };
  array("images", "|u1", "(9, 300, 400, 3)", 9 * 300 * 400 * 3);
  array("masks", "|u1", "(9, 300, 400)", 9 * 300 * 400);
  array("boxes", "<f4", "(9, 5, 4)", 9 * 5 * 4 * 4);
  array("labels", "<i8", "(9, 5)", 9 * 5 * 8);
  metadata.file(datasets + "animals/val.csv", "image,species\n1.jpg,cat\n");
  for (const auto& entry :
       std::filesystem::directory_iterator(config_folder()))        // a graph may read
    metadata.file(entry.path().string(), file_text(entry.path()));  // one of them
  return metadata.folder("/tmp");
}

/// Each a list of files, as `brigade run` takes them: "hello.yaml"; "layers.yaml",
/// "layers.machine.yaml".
inline std::vector<std::vector<std::string>> config_graphs() {
  std::vector<std::vector<std::string>> graphs;
  std::vector<std::string> over;
  for (const auto& entry : std::filesystem::directory_iterator(config_folder())) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".yaml") continue;
    if (entry.path().stem().has_extension()) {
      over.push_back(name);
    } else {
      graphs.push_back({name});
    }
  }
  for (const std::string& name : over)
    graphs.push_back({name.substr(0, name.find('.')) + ".yaml", name});
  std::sort(graphs.begin(), graphs.end());
  return graphs;
}

/// A name for GoogleTest.
inline std::string config_test_name(const std::vector<std::string>& files) {
  std::string name = files.back().substr(0, files.back().rfind('.'));
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

/// No environment: what holds where nobody has set anything.
inline LoadedGraph load_texts(std::vector<SourceFile> texts, const StageTypes& types) {
  FakeMetadata metadata = data_set_metadata();
  return load_graph(std::move(texts), {.files = {},
                                       .sets = {},
                                       .limit = {},
                                       .types = types,
                                       .metadata = metadata,
                                       .environment = {},
                                       .working_directory = config_folder().string()});
}

inline LoadedGraph load_config(const std::vector<std::string>& files, const StageTypes& types) {
  std::vector<SourceFile> texts;
  for (const std::string& name : files)
    texts.push_back({name, file_text(config_folder() / name), config_folder().string()});
  return load_texts(std::move(texts), types);
}

}  // namespace brigade
