#include "tests/support/config/load_text.h"

#include "tests/support/config/directives.h"

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

void LoadText::obey(const std::string& text) {
  for (std::string& set : directives(text, "--set")) sets.push_back(std::move(set));
  for (const std::string& variable : directives(text, "env")) {
    const std::size_t equals = variable.find('=');
    environment[variable.substr(0, equals)] = variable.substr(equals + 1);
  }
  for (const std::string& file : directives(text, "file"))
    metadata.file(file.substr(0, file.find(' ')), file.substr(file.find(' ') + 1));
  for (const std::string& number : directives(text, "limit")) limit = std::stoull(number);
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
                                       .types = *types,
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
