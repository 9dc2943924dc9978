#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <brigade/harness/params.h>
#include <brigade/text.h>
#include "stages/api/file_patterns.h"

namespace brigade::testing_support {
namespace {

/// The pieces between commas that are in no bracket.
std::vector<std::string_view> param_items(std::string_view text) {
  std::vector<std::string_view> items;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char at = i < text.size() ? text[i] : ',';
    depth += (at == '[' || at == '{') - (at == ']' || at == '}');
    if (at != ',' || depth > 0) continue;
    if (const auto item = trim(text.substr(begin, i - begin)); !item.empty()) items.push_back(item);
    begin = i + 1;
  }
  return items;
}

void read_header(FileMetadata& metadata, const std::string& name, const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return;
  FileHeader file_header;
  file_header.header.resize(kMetadataBytesMax);
  const int got = gzread(file, file_header.header.data(), static_cast<unsigned>(kMetadataBytesMax));
  file_header.header.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  file_header.is_gzip = gzdirect(file) == 0;
  gzclose(file);
  std::error_code error;
  file_header.file_bytes = std::filesystem::file_size(path, error);
  metadata.files.push_back({name, std::move(file_header)});
}

std::vector<std::string> texts_of(const ParamValue& list) {
  std::vector<std::string> texts;
  for (const ParamValue& item : list.items) texts.push_back(item.text);
  return texts;
}

}  // namespace

ParamValue param_value(std::string_view text) {
  ParamValue out;
  if (const auto list = strip_prefix(text, "[")) {
    out.kind = ParamValue::Kind::list;
    for (const auto item : param_items(strip_suffix(*list, "]").value()))
      out.items.push_back(param_value(item));
    return out;
  }
  if (const auto map = strip_prefix(text, "{")) {
    out.kind = ParamValue::Kind::map;
    for (const auto item : param_items(strip_suffix(*map, "}").value())) {
      const std::size_t colon = item.find(": ");
      BRIGADE_CHECK(colon != item.npos, item);
      out.entries.emplace_back(item.substr(0, colon), param_value(trim(item.substr(colon + 1))));
    }
    return out;
  }
  return ParamValue::scalar(std::string(text));
}

Result<std::shared_ptr<void>> make_params(const StageContract& contract, const ParamTexts& texts) {
  std::shared_ptr<void> params = contract.make_params();
  for (const auto& [name, text] : texts) {
    const ParamSpec* spec = contract.find_param(name);
    if (spec == nullptr) return Error{concat("unknown parameter ", quote(name))};
    if (auto set = set_param(*spec, params.get(), param_value(text)); !set)
      return set.error().within(name);
  }
  return params;
}

FileMetadata read_metadata(const StageContract& contract, const ParamTexts& texts) {
  FileMetadata metadata;
  metadata.stamp = stamp_of;
  for (const auto& [name, text] : texts) {
    if (std::find(contract.metadata.begin(), contract.metadata.end(), name) ==
        contract.metadata.end())
      continue;
    const ParamValue value = param_value(text);
    if (contract.find_param(name)->type == ParamType::input_files) {
      const auto files = expand_all_braces(
          value.kind == ParamValue::Kind::list ? texts_of(value) : std::vector<std::string>{text});
      for (std::size_t i = 0; i < files->size(); ++i)
        read_header(metadata, concat(name, ".", i), (*files)[i]);
      continue;
    }
    if (value.kind == ParamValue::Kind::scalar) read_header(metadata, name, text);
    for (const auto& [key, path] : value.entries)
      read_header(metadata, concat(name, ".", key), path.text);
  }
  return metadata;
}

}  // namespace brigade::testing_support
