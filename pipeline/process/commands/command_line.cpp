#include "pipeline/process/commands/command_line.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "base/text.h"

namespace brigade {
namespace {

constexpr const char* kAbout =
    R"(Feeds training with tensors: stages declared in YAML, a process each, shared memory between.

  brigade init DIR                     write a commented graph for a folder of data
  brigade check train.yaml             find every mistake before anything runs
  brigade plan train.yaml              what will run, and what memory it takes
  brigade run train.yaml               run it
  brigade run train.yaml --set epochs=5 --set stages.augment.replicas=4
  brigade run base.yaml machine.yaml   the second file lies over the first
  brigade stages                       what stages there are
  brigade stages count                 one of them: ports, parameters, an example
  brigade COMMAND --help               more about a command, with examples
)";

constexpr const char* kRunFooter = R"(Examples:
  brigade run train.yaml
  brigade run train.yaml --limit 1000 --set epochs=1      a quick try
  brigade run train.yaml --summary run.json --quiet       for scripts
  brigade run train.yaml --in-process                     for a debugger

Ctrl-C lets the line run dry; once more ends it at once.
Exit codes: 0 done, 1 the run failed, 2 the command or the YAML is wrong, 130/143 stopped.)";

constexpr const char* kCheckFooter = R"(Examples:
  brigade check train.yaml
  brigade check base.yaml machine.yaml --set stages.augment.replicas=4

Each mistake is shown with file:line:column, the line and the fix; all of them in one go. No data is
read but headers. Exit codes: 0 nothing is wrong, 2 something is.)";

constexpr const char* kPlanFooter = R"(Examples:
  brigade plan train.yaml            processes, task sizes, every ring as a sum, memory
  brigade plan train.yaml --json     the same for programs
  brigade plan train.yaml --yaml     the graph with every default filled in)";

constexpr const char* kGraphFooter = R"(Examples:
  brigade graph train.yaml
  brigade graph train.yaml --format dot | dot -Tpng > train.png
  brigade graph train.yaml --format svg > train.svg)";

constexpr const char* kStagesFooter = R"(Examples:
  brigade stages
  brigade stages augment_image
  brigade stages --plugin jitter.so                       those of a plugin, too
  brigade stages --keys                                   the keys of the YAML, with defaults
  brigade stages --json-schema > brigade.schema.json      for your editor

An editor with a YAML language server checks a graph that begins with the line
  # yaml-language-server: $schema=brigade.schema.json)";

constexpr const char* kSampleFooter = R"(Examples:
  brigade sample train.yaml --stage augment
  brigade sample train.yaml --stage augment -n 100 --out /tmp/look

Pictures become PNG files, other tensors npy files (numpy.load reads them); samples.tsv lists them
with number, epoch and id. Nothing below the stage runs.)";

constexpr const char* kInitFooter = R"(Examples:
  brigade init                                  a graph to try things out with
  brigade init /data/fashion-mnist              one for the data there
  brigade init /data/fashion-mnist --out train.yaml

It knows folders of IDX files (MNIST) and of images. A file that is there is never overwritten.)";

constexpr const char* kHoldersFooter = R"(Examples:
  brigade holders
  brigade holders 4711                  of one graph: the process that was started

Of every replica of the graphs that run here: tasks it has claimed, the sample in hand, and what it
has been doing for how long; the marks of every stage; and the place that the others wait for.)";

constexpr const char* kDoctorFooter = R"(Example:
  brigade doctor

A line per finding: ok, note (a run works, but not as well as it could) or BAD (some graphs will be
refused), and what it means for a run. Exit codes: 0 nothing is BAD, 1 something is.)";

constexpr const char* kCompletionsFooter = R"(Examples:
  source <(brigade completions bash)
  brigade completions fish | source)";

// The parser with everything it writes into.
struct Parser {
  CLI::App app{kAbout, "brigade"};
  RunArguments run;
  CheckArguments check;
  PlanArguments plan;
  DrawArguments draw;
  StagesArguments stages;
  SampleArguments sample;
  InitArguments init;
  HoldersArguments holders;
  CompletionsArguments completions;
  CLI::App* run_command = nullptr;
  CLI::App* check_command = nullptr;
  CLI::App* plan_command = nullptr;
  CLI::App* graph_command = nullptr;
  CLI::App* stages_command = nullptr;
  CLI::App* sample_command = nullptr;
  CLI::App* init_command = nullptr;
  CLI::App* holders_command = nullptr;
  CLI::App* doctor_command = nullptr;
  CLI::App* completions_command = nullptr;

  Parser();
  void add_run();
  void add_plan();
  void add_graph_command();
  void add_stages();
  void add_sample();
  void add_helpers();
  Command chosen() const;
};

void add_graph(CLI::App& command, GraphFiles& graph) {
  command.add_option("FILE", graph.files, "YAML files; later ones lie over earlier ones")
      ->option_text("...")
      ->required();
  command
      .add_option("--set", graph.sets,
                  "sets a key of the YAML, such as stages.augment.replicas=4; repeatable")
      ->option_text("KEY=VALUE")
      ->expected(1)
      ->take_all();
  command.add_option("--limit", graph.limit, "only the first N samples of every indexed producer")
      ->option_text("N")
      ->check(CLI::PositiveNumber);
}

Parser::Parser() {
  app.set_version_flag("--version", std::string("brigade ") + BRIGADE_VERSION);
  app.require_subcommand(1);
  add_run();
  check_command = app.add_subcommand("check", "find every mistake; run nothing");
  add_graph(*check_command, check.graph);
  check_command->footer(kCheckFooter);
  add_plan();
  add_graph_command();
  add_stages();
  add_sample();
  add_helpers();
}

void Parser::add_graph_command() {
  graph_command = app.add_subcommand("graph", "draw the graph");
  add_graph(*graph_command, draw.graph);
  graph_command->add_option("--format", draw.format, "what to write (ascii)")
      ->option_text("ascii|dot|svg")
      ->check(CLI::IsMember({"ascii", "dot", "svg"}));
  graph_command->footer(kGraphFooter);
}

void Parser::add_stages() {
  stages_command = app.add_subcommand("stages", "list the stage types, or describe one");
  stages_command->add_option("NAME", stages.name, "a stage type")->option_text(" ");
  stages_command->add_flag("--keys", stages.keys, "the keys of the YAML, with their defaults");
  stages_command->add_flag("--json-schema", stages.json_schema,
                           "the language as a JSON schema, for editors");
  stages_command
      ->add_option("--plugin", stages.plugins, "and the stage types of this plugin; repeatable")
      ->option_text("FILE")
      ->expected(1)
      ->take_all();
  stages_command->footer(kStagesFooter);
}

void Parser::add_sample() {
  sample_command = app.add_subcommand("sample", "write what a stage emits, to look at");
  add_graph(*sample_command, sample.graph);
  sample_command->add_option("--stage", sample.stage, "the stage")->option_text("NAME")->required();
  sample_command->add_option("-n", sample.count, "how many samples (8)")
      ->option_text("N")
      ->check(CLI::Range(1, 100000));
  sample_command->add_option("--out", sample.folder, "folder to write to (samples)")
      ->option_text("FOLDER");
  sample_command->footer(kSampleFooter);
}

void Parser::add_helpers() {
  init_command = app.add_subcommand("init", "write a commented graph for a folder of data");
  init_command->add_option("FOLDER", init.folder, "the data (.)")->option_text(" ");
  init_command->add_option("--out", init.file, "file to write (the folder's name with .yaml)")
      ->option_text("FILE");
  init_command->footer(kInitFooter);
  holders_command = app.add_subcommand("holders", "who holds what in the graphs that run");
  holders_command->add_option("PID", holders.pid, "the process of one graph (all)")
      ->option_text(" ")
      ->check(CLI::PositiveNumber);
  holders_command->footer(kHoldersFooter);
  doctor_command = app.add_subcommand("doctor", "what on this machine helps or hurts a run");
  doctor_command->footer(kDoctorFooter);
  completions_command = app.add_subcommand("completions", "a script that completes commands");
  completions_command->add_option("SHELL", completions.shell, "bash, zsh or fish")
      ->option_text(" ")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completions_command->footer(kCompletionsFooter);
}

void Parser::add_run() {
  run_command = app.add_subcommand("run", "run a graph");
  add_graph(*run_command, run.graph);
  run_command
      ->add_option("--summary", run.summary_file,
                   "write what it amounted to, as JSON (-: to standard output)")
      ->option_text("FILE");
  run_command->add_option("--log", run.log_file, "append every line to this file, with the time")
      ->option_text("FILE");
  run_command->add_flag("--in-process", run.in_process,
                        "threads instead of processes, for debuggers");
  auto* const resume =
      run_command->add_flag("--resume", run.resume, "goes on from the checkpoint of the last run");
  run_command
      ->add_flag("--overwrite", run.overwrite,
                 "begins anew, though a checkpoint is there, and replaces it")
      ->excludes(resume);
  run_command->add_flag("--quiet", run.quiet, "warnings and errors only");
  run_command->footer(kRunFooter);
}

void Parser::add_plan() {
  plan_command = app.add_subcommand("plan", "what will run, and what it takes");
  add_graph(*plan_command, plan.graph);
  auto* const json = plan_command->add_flag("--json", plan.json, "as JSON")->option_text(" ");
  plan_command->add_flag("--yaml", plan.yaml, "the graph with every default filled in")
      ->option_text(" ")
      ->excludes(json);
  plan_command->footer(kPlanFooter);
}

Command Parser::chosen() const {
  if (run_command->parsed()) return run;
  if (check_command->parsed()) return check;
  if (plan_command->parsed()) return plan;
  if (graph_command->parsed()) return draw;
  if (stages_command->parsed()) return stages;
  if (sample_command->parsed()) return sample;
  if (init_command->parsed()) return init;
  if (holders_command->parsed()) return holders;
  if (doctor_command->parsed()) return DoctorArguments{};
  CompletionsArguments arguments = completions;
  for (const CLI::App* command : app.get_subcommands({})) {
    CommandWords words{command->get_name(), command->get_description(), {}};
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) words.flags.push_back("--" + name);
    }
    arguments.commands.push_back(std::move(words));
  }
  return arguments;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

ShowText mistake(const std::string& text) { return {concat("brigade: error: ", text, '\n'), 2}; }

std::optional<ShowText> unknown_command(const CLI::App& app,
                                        const std::vector<std::string>& arguments) {
  if (arguments.size() < 2 || arguments[1].starts_with("-")) return std::nullopt;
  const std::vector<std::string> names = command_names(app);
  if (std::find(names.begin(), names.end(), arguments[1]) != names.end()) return std::nullopt;
  std::string text = concat("unknown command ", quote(arguments[1]), "; ");
  if (const auto meant = did_you_mean(arguments[1], names)) {
    text += concat("did you mean ", quote(*meant), "?  ");
  } else if (arguments[1].ends_with(".yaml") || arguments[1].ends_with(".yml")) {
    text += concat("did you mean `brigade run ", arguments[1], "`?  ");
  }
  return mistake(text + "`brigade --help` lists all.");
}

// `brigade help run` is `brigade run --help`.
std::vector<std::string> without_help_command(std::vector<std::string> arguments) {
  if (arguments.size() < 2 || arguments[1] != "help") return arguments;
  arguments.erase(arguments.begin() + 1);
  arguments.resize(std::min<std::size_t>(arguments.size(), 2));
  arguments.emplace_back("--help");
  return arguments;
}

std::string suggestion(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* command = nullptr;
  for (const CLI::App* one : app.get_subcommands({})) {
    if (arguments.size() > 1 && one->get_name() == arguments[1]) command = one;
  }
  if (command == nullptr) return "";
  std::vector<std::string> known;
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    if (!name.starts_with("--")) continue;
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (const auto meant = did_you_mean(name, known)) {
      return concat("; did you mean ", *meant, "?");
    }
  }
  return concat("; `brigade ", command->get_name(), " --help` says more");
}

}  // namespace

Command parse_command_line(const std::vector<std::string>& given) {
  const std::vector<std::string> arguments = without_help_command(given);
  Parser parser;
  if (arguments.size() < 2) return ShowText{parser.app.help(), 2};
  if (const auto unknown = unknown_command(parser.app, arguments)) return *unknown;
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend() - 1);
  try {
    parser.app.parse(reversed);
    return parser.chosen();
  } catch (const CLI::CallForHelp&) {
    return ShowText{parser.app.help(), 0};
  } catch (const CLI::CallForVersion& version) {
    return ShowText{concat(version.what(), '\n'), 0};
  } catch (const CLI::Error& error) {
    return mistake(concat(error.what(), suggestion(parser.app, arguments)));
  }
}

}  // namespace brigade
