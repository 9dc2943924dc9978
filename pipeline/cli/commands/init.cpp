#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <brigade/text.h>
#include "base/io.h"
#include "base/owned_fd.h"
#include "base/units.h"
#include "pipeline/cli/commands/commands.h"
#include "pipeline/cli/commands/count_classes.h"
#include "pipeline/cli/commands/load.h"
#include "pipeline/cli/commands/print.h"
#include "pipeline/cli/commands/script_needs.h"
#include "pipeline/cli/templates/found_data.h"
#include "pipeline/cli/templates/graph_template.h"
#include "pipeline/cli/templates/project_template.h"
#include "pipeline/cli/templates/template_text.h"
#include "pipeline/cli/templates/train_script.h"
#include "pipeline/config/validate/remote_path.h"
#include "pipeline/plan/subset.h"
#include "pipeline/worker/module_loader.h"
#include "stages/api/class_folders.h"

namespace brigade {
namespace {

constexpr const char* kInitExamples = R"(Examples:
  brigade init                                  a graph for the data in this folder
  brigade init /data/birds                      a graph for the data in that folder
  brigade init /data/birds/train.csv --out train.yaml
  brigade init --synthetic                      a graph that needs no data
  brigade init stage noise                      a stage type of your own, with its test
  brigade init program trainer                  a program with its own loop

With --python, or if torch_classifier (which trains inside a run) is not installed, it also writes
train.py: a Python program with a torch loop that trains, evaluates and resumes.

It recognizes images in a folder per class (train/CLASS and val/CLASS, or CLASS alone), tar archives
(WebDataset), tables of images or numbers (CSV) and IDX files (MNIST). Existing files are never
overwritten.)";

struct InitArguments {
  std::string folder = ".";
  std::string name;  // of a stage type or a program
  std::string file;  // to write; empty: the folder's name with .yaml
  bool synthetic = false;
  bool python = false;
};

void declare(Options& options, InitArguments& arguments) {
  options.text("FOLDER", arguments.folder,
               "the data or one of its files (.); or `stage` or `program`, then NAME");
  options.text("NAME", arguments.name, "name of the stage type or the program");
  options.text("--out", arguments.file,
               "output file (the folder's name with .yaml), or new folder (NAME)", "PATH");
  options.flag("--synthetic", arguments.synthetic, "a graph with generated samples");
  options.flag("--python", arguments.python, "write train.py, which trains in its own loop");
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

Result<void> write_new_file(const std::string& path, const std::string& text,
                            const char* instead = "name with --out") {
  const OwnedFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (file.get() < 0 && errno == EEXIST) {
    return Error{concat(path, " already exists; choose another ", instead)};
  }
  if (file.get() >= 0 && write_all(file.get(), text)) return {};
  const Error failure = error_of_errno(concat("cannot write ", path));
  if (file.get() >= 0) unlink(path.c_str());  // a part of it would be in the way of another try
  return failure;
}

bool can_train(const StageTypes& types) {
  const StageType* const type = types.find("torch_classifier");
  return type != nullptr && find_module_file(type->module).has_value();
}

bool is_listed(const FoundData& data) {
  return data.kind == FoundData::Kind::shards || data.kind == FoundData::Kind::list;
}

/// Whether its classes are known by looking at all labels.
bool is_counted(const FoundData& data, Trainer trainer) {
  if (data.kind == FoundData::Kind::idx) return trainer == Trainer::script && !data.labels.empty();
  return is_listed(data) && !data.label.empty();
}

/// Of so many, where a graph trains on all but a tenth.
std::uint64_t to_evaluate(std::uint64_t samples) {
  return samples - samples_of_share(kWholeShare / 10 * 9, samples);
}

/// Whether they would have to be divided, and are known to be too few.
bool are_too_few(const FoundData& data, Trainer trainer) {
  return is_divided(data, trainer) && data.samples > 0 && to_evaluate(data.samples) == 0;
}

std::string too_few(const FoundData& data) {
  std::uint64_t enough = data.samples;
  while (to_evaluate(enough) == 0) ++enough;
  return concat(format_samples(data.samples), data.samples == 1 ? " is" : " are",
                " too few to set 10 % aside for evaluation; ", enough, " are enough");
}

/// Why the graph for these data ends in a consumer that counts; empty: it does not. `uncounted`:
/// why there is no number of classes.
std::string why_it_counts(const FoundData& data, Trainer trainer, const std::string& uncounted) {
  using Kind = FoundData::Kind;
  if (data.kind == Kind::nothing) return "";
  if (data.kind == Kind::numbers)
    return "no stage type trains on numbers; use a program (`brigade docs PYTHON` and `brigade "
           "docs PROGRAMS`)";
  const bool labelled =
      data.kind == Kind::classes || !(data.kind == Kind::idx ? data.labels : data.label).empty();
  if (!labelled) return "the data has no labels";
  if (are_too_few(data, trainer)) return too_few(data);
  if (!is_counted(data, trainer) || data.class_count > 0) return "";
  const std::string why = concat("the number of classes is unknown: ", uncounted);
  if (trainer == Trainer::script) return why;
  return concat(why, "; to train, replace it with torch_classifier and `classes:` (`brigade docs ",
                "TRAINING`)");
}

/// The graph that would be written.
PlannedGraph plan_of(const FoundData& data, Trainer trainer, const StageTypes& types) {
  std::error_code ignored;
  GraphFiles graph;
  graph.texts.push_back({"init", graph_template("init", data, trainer),
                         std::filesystem::current_path(ignored).string()});
  return plan_files(graph, types);
}

/// As far as names and headers tell.
std::uint64_t count_samples(const FoundData& data, const StageTypes& types) {
  const PlannedGraph planned = plan_of(data, Trainer::script, types);
  if (!planned.loaded.graph) return 0;
  for (const ValidStage& stage : planned.loaded.graph->stages)
    if (stage.kind == StageKind::producer)
      return std::max<std::uint64_t>(stage.samples, stage.files);
  return 0;
}

/// What is listed alike for training and for evaluation; the latter in place of the former.
Result<CountedClasses> count_classes_of(FoundData data, bool test, const StageTypes& types) {
  if (test) (data.kind == FoundData::Kind::shards ? data.train : data.table) = data.test;
  const PlannedGraph planned = plan_of(data, Trainer::none, types);
  if (!planned.plan) return Error{"run `brigade check` on the graph for the reason"};
  return count_classes(*planned.plan, types);
}

/// Looks at all labels, in the headers of archives, in the table or the file of labels. Gives why
/// there is no number of classes.
std::string count_labels(FoundData& data, const StageTypes& types) {
  const auto train = count_classes_of(data, false, types);
  if (!train) return train.error().message;
  data.class_count = train->count;
  data.classes = train->names;
  data.samples = train->samples;
  if (data.test.empty()) return "";
  const auto test = count_classes_of(data, true, types);
  const bool same = test && test->names == train->names && test->count <= train->count;
  if (same) return "";
  data.remark =
      concat(data.test, " is not used for evaluation: ",
             !test ? test.error().message
             : train->names.empty()
                 ? concat("its labels go up to ", test->count - 1)
                 : concat("its classes differ: ", class_difference(train->names, test->names)));
  data.test.clear();
  return "";
}

/// Where CMake finds Brigade, or what stands for it.
std::string install_prefix() {
  for (const std::string& folder : module_folders()) {
    for (std::filesystem::path prefix(folder); prefix.has_relative_path();
         prefix = prefix.parent_path())
      if (std::filesystem::exists(prefix / "lib/cmake/Brigade/BrigadeConfig.cmake")) return prefix;
  }
  return "WHERE_BRIGADE_IS_INSTALLED";
}

int init_project(const InitArguments& arguments) {
  const bool stage = arguments.folder == "stage";
  if (!stage && arguments.folder != "program")
    return failed(2, concat("expected `stage` or `program` before the name ", quote(arguments.name),
                            ", found ", quote(arguments.folder)));
  if (const std::string problem = project_name_problem(arguments.name); !problem.empty())
    return failed(2, problem);
  const std::string folder = arguments.file.empty() ? arguments.name : arguments.file;
  if (mkdir(folder.c_str(), 0777) != 0)
    return failed(2, errno == EEXIST
                         ? concat(folder, " already exists; choose another folder with --out")
                         : error_of_errno(concat("cannot create ", folder)).message);
  const auto files = stage ? stage_project(arguments.name) : program_project(arguments.name);
  for (const ProjectFile& file : files) {
    const std::string path = concat(folder, "/", file.path);
    if (const auto written = write_new_file(path, file.text); !written) {
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);  // made above, and in the way of another try
      return failed(2, written.error().message);
    }
    print_line(concat("wrote ", path));
  }
  const std::string build = folder + "/build";
  print_line("build and test it:");
  print_line(
      concat("  cmake -S ", folder, " -B ", build, " -DCMAKE_PREFIX_PATH=", install_prefix()));
  print_line(concat("  cmake --build ", build, " && ctest --test-dir ", build));
  const std::string graph = concat(folder, "/", arguments.name, ".yaml");
  print_line(stage ? concat("  brigade run ", graph)
                   : concat("  ", build, "/", arguments.name, " ", graph));
  return 0;
}

std::string script_beside(const std::string& path) {
  return std::filesystem::path(path).replace_filename(kTrainScript).string();
}

/// The graph and, where one trains on it, the program.
Result<void> write_graph(const std::string& path, const std::string& name, const FoundData& data,
                         Trainer trainer) {
  const std::string graph = graph_template(name, data, trainer);
  if (trainer != Trainer::script) return write_new_file(path, graph);
  const std::string file = std::filesystem::path(path).filename().string();
  if (!is_utf8(file))
    return Error{concat("the name ", quote(file), " is not UTF-8; choose another")};
  const std::string script = script_beside(path);
  BRIGADE_TRY(
      write_new_file(script, train_script(file, data), "folder with --out FOLDER/NAME.yaml"));
  auto written = write_new_file(path, graph);
  if (!written) unlink(script.c_str());
  return written;
}

void show_what_runs(const std::string& path, Trainer trainer, bool fine) {
  const std::string correct = fine ? "; " : "; correct the graph, then ";
  if (trainer != Trainer::script) {
    print_line(concat("wrote ", path, correct, "`brigade run ", path, "` runs it"));
    return;
  }
  const std::string script = script_beside(path);
  print_line(concat("wrote ", path, " and ", script, correct, "`", script_python(), ' ', script,
                    "` trains, evaluates and resumes"));
  if (const std::string missing = missing_for_script(); !missing.empty())
    print_line(concat(script, " does not run yet: ", missing));
}

int init(const InitArguments& arguments, const StageTypes& types, std::int64_t) {
  if (!arguments.name.empty()) return init_project(arguments);
  if ((arguments.folder == "stage" || arguments.folder == "program") &&
      !std::filesystem::exists(arguments.folder))
    return failed(2, concat("expected a name: `brigade init ", arguments.folder, " NAME`"));
  if (const auto help = help_of_remote(arguments.folder))
    return failed(
        2, concat("expected files on this machine, found ", quote(arguments.folder), ": ", *help));
  auto data = arguments.synthetic ? Result<FoundData>(FoundData()) : look_at_data(arguments.folder);
  if (!data) return failed(2, data.error().message);
  for (const std::string_view type : types_for(data->kind))
    if (types.find(type) == nullptr)
      return failed(2, concat("found ", found_text(*data), ", but this program has no stage type ",
                              quote(type), " to read it"));
  if (const std::string problem = unwritable(*data); !problem.empty()) return failed(2, problem);
  const std::string stem = arguments.synthetic   ? "synthetic"
                           : data->table.empty() ? std::filesystem::path(data->folder).filename()
                                                 : std::filesystem::path(data->table).stem();
  const std::string path = arguments.file.empty() ? initial_name(stem) + ".yaml" : arguments.file;
  const std::string name = initial_name(std::filesystem::path(path).stem().string());
  Trainer trainer = !arguments.python && can_train(types) ? Trainer::classifier : Trainer::script;
  const std::string uncounted = is_counted(*data, trainer) ? count_labels(*data, types) : "";
  if (!is_listed(*data) && is_divided(*data, trainer)) data->samples = count_samples(*data, types);
  const std::string why = why_it_counts(*data, trainer, uncounted);
  if (are_too_few(*data, trainer)) trainer = Trainer::none;
  if (trainer == Trainer::script && (!why.empty() || arguments.synthetic)) trainer = Trainer::none;
  if (const auto written = write_graph(path, name, *data, trainer); !written)
    return failed(2, written.error().message);
  const bool fine = plan_and_show({{path}, {}, {}}, types).plan.has_value();
  if (!arguments.synthetic) print_line(concat("found ", found_text(*data)));
  if (!data->remark.empty()) print_line(data->remark);
  if (is_divided(*data, trainer)) print_line("`split:` sets 10 % of the data aside for evaluation");
  if (!why.empty()) print_line(concat("the graph only counts batches: ", why));
  show_what_runs(path, trainer, fine);
  return fine ? 0 : 2;
}

}  // namespace

Command init_command() {
  return make_command<InitArguments>(
      "init", "write a first graph for a data folder, a stage type or a program", kInitExamples,
      declare, init);
}

}  // namespace brigade
