#include "pipeline/process/quarantine_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace brigade {

Result<void> QuarantineFile::add(const std::string& stage, const QuarantinedSample& sample) {
  if (path_.empty() || !written_.emplace(stage, sample.number).second) return {};
  const nlohmann::ordered_json line{{"stage", stage},        {"number", sample.number},
                                    {"epoch", sample.epoch}, {"index", sample.index},
                                    {"id", sample.id},       {"source", sample.source}};
  errno = 0;
  std::ofstream file(path_, std::ios::app);
  file << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  file.flush();
  if (file) return {};
  return Error{concat("cannot write the list of samples in quarantine, ", path_, ": ",
                      std::strerror(errno == 0 ? EIO : errno))};
}

std::string quarantine_file_name(const std::string& graph) {
  std::string name = graph.empty() ? "brigade" : graph;
  for (char& c : name) {
    if (c == '/' || static_cast<unsigned char>(c) < ' ') c = '_';
  }
  return name + ".quarantine.jsonl";
}

}  // namespace brigade
