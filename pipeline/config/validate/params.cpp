#include <algorithm>
#include <exception>
#include <filesystem>

#include "pipeline/config/language/key_table.h"
#include "pipeline/config/language/other_keys.h"
#include "pipeline/config/validate/draft.h"
#include "pipeline/config/validate/remote_path.h"
#include "stages/api/file_patterns.h"
#include "stages/detail/fused_stage.h"

namespace brigade {

namespace {

std::string takes_text(const ParamSpec& spec) {
  std::string what = spec.type == ParamType::choice ? concat("one of ", join(spec.choices, ", "))
                                                    : std::string(param_type_name(spec.type));
  const std::string range = param_range_text(spec);
  return range.empty() ? what : concat(what, " ", range);
}

std::string param_help(const ParamSpec& spec) {
  return concat(quote(spec.name), ": ", spec.help, " (", takes_text(spec), ")");
}

bool is_path(ParamType type) {
  return type == ParamType::input_path || type == ParamType::output_path;
}

/// Whether a path means what the command itself has open, as `-` does and a shell's `<(...)`.
bool is_descriptor(const std::string& written, const std::string& path) {
  const std::string plain = std::filesystem::path(path).lexically_normal().string();
  return written == "-" || plain == "/dev/stdin" || plain == "/dev/stdout" ||
         plain == "/dev/stderr" || plain.starts_with("/dev/fd/") ||
         plain.starts_with("/proc/self/fd/") || plain.starts_with("/proc/thread-self/fd/");
}

class ParamCheck {
 public:
  /// `params`: the contract's struct. `at`: where a parameter that is missing is reported.
  ParamCheck(Validation& validation, Draft& draft, const StageContract& contract, void* params,
             const Span& at)
      : v(validation), draft_(draft), contract_(contract), params_(params), at_(at) {}

  /// `map`: null where nothing was given.
  bool run(const YamlNode* map) {
    if (map != nullptr)
      for (const YamlEntry& entry : map->entries) set(entry);
    for (const ParamSpec& spec : contract_.params)
      if (spec.required && (map == nullptr || map->find(spec.name) == nullptr)) missing(spec);
    for (const std::string& param : contract_.metadata)
      if (good_) read_metadata(param);
    return good_;
  }

 private:
  void error(const Span& span, std::string message, std::vector<std::string> help = {}) {
    good_ = false;
    v.error(draft_, span, message, std::move(help));
  }

  void unknown(const YamlEntry& entry) {
    std::vector<std::string> names;
    for (const ParamSpec& spec : contract_.params) names.push_back(spec.name);
    std::vector<std::string> help;
    if (const auto other = other_key_help(entry.key, std::nullopt)) {
      help.push_back(*other);
    } else if (const auto meant = did_you_mean(entry.key, names)) {
      help.push_back(concat("did you mean \"", *meant, "\"?"));
    } else if (find_key(KeyScope::stage, entry.key) != nullptr) {
      help.push_back(concat("it is a key of the stage: write `", entry.key, ":` beside `params:`"));
    } else if (names.empty()) {
      help.push_back("this type has no parameters");
    } else {
      help.push_back(concat("its parameters are ", name_list(names)));
    }
    error(entry.key_span, concat(quote(contract_.type), " has no parameter ", quote(entry.key)),
          std::move(help));
  }

  void missing(const ParamSpec& spec) {
    error(at_, concat(quote(contract_.type), " needs the parameter ", quote(spec.name)),
          {param_help(spec)});
  }

  void set(const YamlEntry& entry) {
    const ParamSpec* spec = contract_.find_param(entry.key);
    if (spec == nullptr) return unknown(entry);
    if (entry.value.is_null()) {
      return error(entry.key_span, concat("parameter ", quote(entry.key), " has no value"),
                   {param_help(*spec)});
    }
    ParamValue value = to_param_value(entry.value);
    const bool path = is_path(spec->type) && entry.value.is_scalar() && !value.text.empty();
    if (path) value.text = absolute_path(v, value.text, entry.value.origin);
    const bool paths = spec->type == ParamType::input_paths && entry.value.is_map();
    if (paths) make_absolute(entry.value, value);
    if (spec->type == ParamType::input_files) make_files_absolute(entry.value, value);
    if (auto set = set_param(*spec, params_, value); !set) {
      const Span& span = item_span(entry.value, set.error().message);
      return error(span, concat("parameter ", quote(entry.key), ": ", set.error().message));
    }
    spans_.emplace_back(entry.key, entry.value.span);
    if (path) check_path(*spec, entry, value.text);
    if (spec->type == ParamType::input_files) check_files(*spec, entry.value, value);
    if (!paths) return;
    for (std::size_t i = 0; i < entry.value.entries.size(); ++i) {
      const YamlEntry& file = entry.value.entries[i];
      spans_.emplace_back(concat(entry.key, ".", file.key), file.value.span);
      check_path(*spec, file, value.entries[i].second.text);
    }
  }

  // Of a map of files.
  void make_absolute(const YamlNode& node, ParamValue& value) {
    for (std::size_t i = 0; i < node.entries.size(); ++i) {
      const YamlNode& file = node.entries[i].value;
      std::string& text = value.entries[i].second.text;
      if (file.is_scalar() && !text.empty()) text = absolute_path(v, text, file.origin);
    }
  }

  // Of a file or a list of files.
  void make_files_absolute(const YamlNode& node, ParamValue& value) {
    if (node.is_scalar() && !value.text.empty())
      value.text = absolute_path(v, value.text, node.origin);
    for (std::size_t i = 0; node.is_list() && i < node.items.size(); ++i) {
      std::string& text = value.items[i].text;
      if (node.items[i].is_scalar() && !text.empty())
        text = absolute_path(v, text, node.items[i].origin);
    }
  }

  void check_files(const ParamSpec& spec, const YamlNode& node, const ParamValue& value) {
    if (value.kind == ParamValue::Kind::scalar) check_pattern(spec, node, value.text);
    for (std::size_t i = 0; node.is_list() && i < node.items.size(); ++i)
      check_pattern(spec, node.items[i], value.items[i].text);
  }

  // What a wildcard stands for is found at the start; here, whether its folder is there and has
  // anything of the kind.
  void check_pattern(const ParamSpec& spec, const YamlNode& node, const std::string& pattern) {
    const std::string name = concat("parameter ", quote(spec.name), ": ");
    if (const auto help = help_of_remote(node.text)) return remote(node, name, *help);
    const auto files = expand_braces(pattern);
    if (!files) return error(node.span, concat(name, files.error().message));
    for (const std::string& file : *files) {
      const bool wildcard = is_wildcard(file);
      const std::string path = wildcard ? folder_of_wildcard(file) : file;
      if (leads_to_descriptor(node.text, file)) return descriptor(node, name, file);
      const PathKind kind = v.context.metadata.kind(path);
      if (kind == PathKind::forbidden)
        return error(node.span, concat(name, path, " is not accessible: permission denied"));
      if (kind == PathKind::missing)
        return error(node.span,
                     concat(name, "there is no ", wildcard ? "folder " : "file or folder ", path),
                     missing_help(node, path));
      if (kind == PathKind::folder && !wildcard)
        return error(node.span, concat(name, path, " is a folder, expected a file"));
      if (kind == PathKind::folder && matches_any(file, list_) == false)
        return error(node.span, concat(name, "there is no file ", file), missing_help(node, file));
    }
  }

  // "item 3: ..." is shown at that item.
  static const Span& item_span(const YamlNode& node, std::string_view message) {
    const auto rest = strip_prefix(message, "item ");
    if (!rest || !node.is_list()) return node.span;
    std::size_t number = 0;
    for (const char c : rest->substr(0, rest->find(':'))) {
      if (c < '0' || c > '9' || number > node.items.size()) return node.span;
      number = number * 10 + static_cast<std::size_t>(c - '0');
    }
    return number >= 1 && number <= node.items.size() ? node.items[number - 1].span : node.span;
  }

  void check_path(const ParamSpec& spec, const YamlEntry& entry, const std::string& path) {
    const PathKind kind = v.context.metadata.kind(path);
    const std::string name = concat("parameter ", quote(spec.name), ": ");
    if (const auto help = help_of_remote(entry.value.text)) return remote(entry.value, name, *help);
    if (leads_to_descriptor(entry.value.text, path)) return descriptor(entry.value, name, path);
    if (kind == PathKind::forbidden) {
      error(entry.value.span, concat(name, path, " is not accessible: permission denied"));
    } else if (spec.type == ParamType::output_path) {
      const std::string folder = path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
      if (v.context.metadata.kind(folder) != PathKind::folder)
        error(entry.value.span, concat(name, "there is no folder ", folder),
              {concat("create it: `mkdir -p ", folder, "`")});
    } else if (kind == PathKind::missing) {
      error(entry.value.span, concat(name, "there is no file or folder ", path),
            missing_help(entry.value, path));
    }
  }

  void remote(const YamlNode& node, const std::string& name, const std::string& help) {
    error(node.span,
          concat(name, "expected a path, found ",
                 node.text.starts_with("pipe:") ? "a command: " : "an address: ", quote(node.text)),
          {help});
  }

  bool leads_to_descriptor(const std::string& written, const std::string& path) {
    return is_descriptor(written, path) || v.context.metadata.descriptor_behind(path).has_value();
  }

  // A worker's standard input is empty, and its other descriptors are its own.
  void descriptor(const YamlNode& node, const std::string& name, const std::string& path) {
    const bool itself = is_descriptor(node.text, path);
    const auto behind = itself ? std::nullopt : v.context.metadata.descriptor_behind(path);
    error(
        node.span,
        concat(name, quote(node.text), behind ? concat(" leads to ", *behind, ", which") : "",
               " is open only in the process of the command, but a stage runs in its own process"),
        {"create a named pipe (`mkfifo FILE`), write FILE here, and connect the other program to "
         "it; or use a file"});
  }

  std::vector<std::string> missing_help(const YamlNode& value, const std::string& path) {
    std::string at = path;
    while (at.size() > 1 && v.context.metadata.kind(at) == PathKind::missing)
      at.resize(std::max<std::size_t>(at.rfind('/'), 1));
    std::vector<std::string> help;
    if (at.size() > 1 && at != path.substr(0, path.rfind('/')))
      help.push_back(concat(at, " exists, but the rest of the path does not"));
    if (value.text.starts_with('/')) return help;
    help.emplace_back(value.origin >= 0
                          ? "relative paths are relative to the file that contains them"
                          : "paths of --set and of the environment are relative to the working "
                            "directory");
    return help;
  }

  void read_metadata(const std::string& param) {
    const ParamSpec* spec = contract_.find_param(param);
    if (spec == nullptr) return;
    const ParamValue value = spec->get(params_);
    if (spec->type == ParamType::output_path) return read_made(param, value.text);
    if (spec->type == ParamType::input_files) return read_list(param, value);
    if (value.kind != ParamValue::Kind::map) return read_header(param, value.text, param);
    for (const auto& [name, path] : value.entries)
      if (good_) read_header(concat(param, ".", name), path.text, concat(param, ".", name));
  }

  /// What an earlier run has left, if it has.
  void read_made(const std::string& param, const std::string& path) {
    if (path.empty()) return;
    if (auto file_header = v.context.metadata.read(path))
      draft_.metadata.files.emplace_back(param, *file_header);
  }

  void read_list(const std::string& param, const ParamValue& value) {
    InputFiles files;
    if (!parse_param(value, files)) return;
    const auto names = expand_all_braces(files.patterns);
    if (!names || names->size() > kMetadataFilesMax ||
        std::any_of(names->begin(), names->end(), is_wildcard))
      return;
    for (std::size_t i = 0; i < names->size(); ++i)
      if (good_) read_header(concat(param, ".", i), (*names)[i], param);
  }

  /// `written`: where its path stands.
  void read_header(const std::string& param, const std::string& path, const std::string& written) {
    if (path.empty()) return;
    const auto known = std::find_if(spans_.begin(), spans_.end(),
                                    [&](const auto& entry) { return entry.first == written; });
    const Span& span = known == spans_.end() ? type_span(draft_) : known->second;
    if (v.context.metadata.kind(path) == PathKind::folder)
      return error(span,
                   concat("parameter ", quote(param), ": ", path, " is a folder, expected a file"));
    auto read = v.metadata_read.find(path);
    if (read == v.metadata_read.end())
      read = v.metadata_read.emplace(path, v.context.metadata.read(path)).first;
    if (!read->second)
      return error(
          span, concat("parameter ", quote(param), ": ", path, ": ", read->second.error().message));
    draft_.metadata.files.emplace_back(param, *read->second);
  }

  Validation& v;
  Draft& draft_;
  const StageContract& contract_;
  void* params_;
  const Span& at_;
  std::vector<std::pair<std::string, Span>> spans_;
  const ListFolder list_ = [this](const std::string& path, std::size_t names_max) {
    return v.context.metadata.list(path, names_max);
  };
  bool good_ = true;
};

bool check_params(Validation& v, Draft& draft) {
  const StageContract& contract = draft.stage.type->contract;
  const auto& given = draft.spec->params;
  if (draft.spec->params_broken) return false;
  return ParamCheck(v, draft, contract, draft.stage.params.get(),
                    given ? given->span : type_span(draft))
      .run(given ? &given->value : nullptr);
}

bool check_fused_params(Validation& v, Draft& draft) {
  bool good = true;
  const auto& fused = *static_cast<const FusedParams*>(draft.stage.params.get());
  for (std::size_t i = 0; i < fused.links.size(); ++i) {
    const TypeSpec& spec = draft.spec->types[i];
    const StageContract& contract = draft.stage.type->links[i]->contract;
    if (spec.params && !spec.params->is_map() && !spec.params->is_null()) {
      v.error(draft, spec.params->span,
              concat("expected the parameters of ", quote(contract.type), " as a mapping, found ",
                     describe(*spec.params)));
      good = false;
      continue;
    }
    ParamCheck check(v, draft, contract, fused.links[i].get(), spec.name.span);
    good = check.run(spec.params ? &*spec.params : nullptr) && good;
  }
  return good;
}

// A contract may be a user's own code.
Result<std::uint64_t> call_count(const StageContract& contract, const void* params) {
  try {
    return contract.outputs_per_input(params);
  } catch (const std::exception& failure) {
    return Error{failure.what()};
  }
}

/// Of types that are flat_maps: how many there are for each input.
bool count_outputs(Validation& v, Draft& draft) {
  const StageContract& contract = draft.stage.type->contract;
  if (!contract.outputs_per_input || contract.kind != StageKind::transform) return true;
  const auto count = call_count(contract, draft.stage.params.get());
  if (!count) {
    const std::string& message = count.error().message;
    v.error(draft, type_span(draft), message.substr(0, message.find('\n')));
  } else if (*count < 1 || *count > kOutputsPerInputMax) {
    v.error(draft, type_span(draft),
            concat(quote(contract.type), " would output ", *count,
                   " samples for each input; expected 1 to ", kOutputsPerInputMax));
  } else {
    draft.stage.outputs_per_input = *count;
    return true;
  }
  return false;
}

/// What a contract can tell of how many samples there are.
void count_samples(const Validation& v, Draft& draft) {
  const StageContract& contract = draft.stage.type->contract;
  if (!contract.samples) return;
  draft.metadata.stamp = [&v](const std::string& path) { return v.context.metadata.stamp(path); };
  try {
    auto count = contract.samples(draft.stage.params.get(), draft.metadata);
    if (!count) return;
    draft.stage.samples = count->samples;
    draft.stage.skipped = std::move(count->skipped);
  } catch (const std::exception&) {  // a user's own code: then it is not known
  }
}

}  // namespace

void validate_params(Validation& v) {
  for (Draft& draft : v.drafts) {
    if (!draft.has_type) continue;
    const StageContract& contract = draft.stage.type->contract;
    draft.stage.params = contract.make_params();
    if (draft.spec->exec || is_python(draft)) {
      draft.has_params = take_exec_params(draft);
      make_python_absolute(draft);
      draft.stage.samples = draft.stage.count;
      continue;
    }
    draft.has_params = draft.spec->fused ? check_fused_params(v, draft) : check_params(v, draft);
    if (draft.has_params) draft.has_params = count_outputs(v, draft);
    if (draft.has_params) count_samples(v, draft);
    for (const ParamSpec& spec : contract.params)
      draft.stage.param_values.emplace_back(spec.name, spec.get(draft.stage.params.get()));
  }
}

}  // namespace brigade
