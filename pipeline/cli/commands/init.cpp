#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <brigade/text.h>
#include "base/io.h"
#include "base/owned_fd.h"
#include "pipeline/cli/commands/commands.h"
#include "pipeline/cli/commands/graph_template.h"
#include "pipeline/cli/commands/load.h"
#include "pipeline/cli/commands/print.h"
#include "pipeline/host/module_loader.h"

namespace brigade {
namespace {

constexpr const char* kInitExamples = R"(Examples:
  brigade init                                  a graph to try things out with
  brigade init /data/fashion-mnist              one for the data there
  brigade init /data/fashion-mnist --out train.yaml

It knows folders of IDX files (MNIST) and of images. A file that is there is never overwritten.)";

struct InitArguments {
  std::string folder = ".";
  std::string file;  // to write; empty: the folder's name with .yaml
};

void declare(Options& options, InitArguments& arguments) {
  options.text("FOLDER", arguments.folder, "the data (.)");
  options.text("--out", arguments.file, "file to write (the folder's name with .yaml)", "FILE");
}

// A name of the language: letters, digits, _ and -.
std::string initial_name(const std::string& text) {
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
  if (file.get() >= 0 && write_all(file.get(), text)) return {};
  return error_of_errno(concat("cannot write ", path));
}

bool can_train(const StageTypes& types) {
  const StageType* const type = types.find("torch_classifier");
  return type != nullptr && find_module_file(type->module).has_value();
}

int init(const InitArguments& arguments, const StageTypes& types, std::int64_t) {
  const auto data = look_at_folder(arguments.folder);
  if (!data) return failed(2, data.error().message);
  const std::filesystem::path folder(data->folder);
  const std::string path =
      arguments.file.empty() ? initial_name(folder.filename().string()) + ".yaml" : arguments.file;
  const std::string name = initial_name(std::filesystem::path(path).stem().string());
  const std::string text = graph_template(name, *data, types, can_train(types));
  if (const auto written = write_new_file(path, text); !written)
    return failed(2, written.error().message);
  const bool fine = plan_and_show({{path}, {}, {}}, types).plan.has_value();
  print_line(concat("found ", found_text(*data),
                    can_read(*data, types) ? "" : "; the graph makes samples up"));
  print_line(concat("wrote ", path, fine ? "; `brigade run " : "; correct it, then `brigade run ",
                    path, "` runs it"));
  return fine ? 0 : 2;
}

}  // namespace

Command init_command() {
  return make_command<InitArguments>("init", "write a commented graph for a folder of data",
                                     kInitExamples, declare, init);
}

}  // namespace brigade
