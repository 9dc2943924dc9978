#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/log.h"
#include "base/owned_fd.h"
#include "base/text.h"
#include "pipeline/process/commands/commands.h"
#include "pipeline/process/commands/load.h"
#include "pipeline/process/commands/print.h"
#include "pipeline/process/graph_template.h"
#include "pipeline/process/module_loader.h"

namespace brigade {
namespace {

// A name of the language: letters, digits, _ and -.
std::string name_of(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += plain || c == '_' || c == '-' ? c : '_';
  }
  return name.empty() ? "graph" : name;
}

Result<void> write_new_file(const std::string& path, const std::string& text) {
  const OwnedFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (file.get() < 0 && errno == EEXIST) {
    return Error{concat(path, " is there already; choose another name with --out")};
  }
  const bool written = file.get() >= 0 && write(file.get(), text.data(), text.size()) ==
                                              static_cast<ssize_t>(text.size());
  if (!written) return Error{concat("cannot write ", path, ": ", std::strerror(errno))};
  return {};
}

bool can_train(const StageTypes& types) {
  const StageType* const type = types.find("torch_classifier");
  return type != nullptr && find_module_file(type->module).has_value();
}

int failed(const Error& error) {
  log_error(error.message);
  return 2;
}

}  // namespace

int init_command(const InitArguments& arguments, const StageTypes& types) {
  const auto data = look_at_folder(arguments.folder);
  if (!data) return failed(data.error());
  const std::filesystem::path folder(data->folder);
  const std::string path =
      arguments.file.empty() ? name_of(folder.filename().string()) + ".yaml" : arguments.file;
  const std::string name = name_of(std::filesystem::path(path).stem().string());
  const std::string text = graph_template(name, *data, types, can_train(types));
  if (const auto written = write_new_file(path, text); !written) return failed(written.error());
  const bool fine = plan_and_show({{path}, {}, {}}, types).plan.has_value();
  print_line(concat("found ", found_text(*data),
                    can_read(*data, types) ? "" : "; the graph makes samples up"));
  print_line(concat("wrote ", path, fine ? "; `brigade run " : "; correct it, then `brigade run ",
                    path, "` runs it"));
  return fine ? 0 : 2;
}

}  // namespace brigade
