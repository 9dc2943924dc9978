#include "tests/support/config/load_text.h"

#include "tests/support/config/fake_types.h"

namespace brigade {

const StageTypes& fake_stage_types() {
  static const StageTypes types = [] {
    StageTypes list;
    fake::add_producers(list);
    fake::add_transforms(list);
    fake::add_consumers(list);
    return list;
  }();
  return types;
}

LoadedGraph LoadText::files(std::vector<SourceFile> texts) {
  const auto variable = [this](const std::string& name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    if (found == environment.end()) return std::nullopt;
    return found->second;
  };
  return load_graph(std::move(texts), {.files = {},
                                       .sets = sets,
                                       .limit = limit,
                                       .types = fake_stage_types(),
                                       .metadata = metadata,
                                       .environment = variable,
                                       .working_directory = "/home/anna",
                                       .plugins = &plugins});
}

LoadedGraph LoadText::operator()(const std::string& text) {
  return files({{"g.yaml", text, "/graphs"}});
}

std::string messages_of(const std::string& text) { return LoadText()(text).messages(); }

std::string with_stages(const std::string& stages) {
  return "stages:\n"
         "  images: {producer: idx_images, params: {images: /data/train-images.gz, "
         "labels: /data/train-labels.gz}}\n" +
         stages;
}

}  // namespace brigade
