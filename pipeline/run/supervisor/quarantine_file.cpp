#include "pipeline/run/supervisor/quarantine_file.h"

#include <nlohmann/json.hpp>

#include <brigade/text.h>
#include "base/io.h"
#include "base/shared_path.h"

namespace brigade {

Result<void> QuarantineFile::add(const std::string& stage, const QuarantinedSample& sample) {
  if (path_.empty() || !written_.emplace(stage, sample.number).second) return {};
  const nlohmann::ordered_json line{{"stage", stage},        {"number", sample.number},
                                    {"epoch", sample.epoch}, {"index", sample.index},
                                    {"id", sample.id},       {"source", sample.source}};
  const auto file = open_to_append(path_, Existing::file);
  if (!file) return file.error().within("the quarantine list");
  const std::string text = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (write_all(file->get(), text + '\n')) return {};
  return error_of_errno(concat("cannot write the quarantine list ", path_));
}

std::string quarantine_file_name(const std::string& graph) {
  std::string name = graph.empty() ? "brigade" : graph;
  for (char& c : name) {
    if (c == '/' || static_cast<unsigned char>(c) < ' ') c = '_';
  }
  return name + ".quarantine.jsonl";
}

}  // namespace brigade
