#include "pipeline/cli/commands/command_line.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <new>
#include <optional>

#include <brigade/app.h>
#include <brigade/text.h>
#include "pipeline/api/version.h"
#include "pipeline/cli/commands/print.h"
#include "pipeline/config/language/other_keys.h"
#include "pipeline/worker/module_loader.h"

namespace brigade {
namespace {

constexpr const char* kAbout =
    R"(Feeds tensors to training: stages in YAML, one process each, connected by shared memory.

  brigade init DIR                     write a commented graph for a folder of data
  brigade init stage NAME              create a stage type of your own; `program`: a loop
  brigade check train.yaml             find every mistake before anything runs
  brigade plan train.yaml              show what will run and what memory it needs
  brigade run train.yaml               run it
  brigade run train.yaml --set epochs=5 --set stages.augment.replicas=4
  brigade run base.yaml machine.yaml   the second file overrides the first
  brigade stages                       list the stage types
  brigade stages count                 describe one: ports, parameters, an example
  brigade COMMAND --help               explain a command, with examples
)";

// The library's parser, and by command what is called when it was chosen.
struct Parser {
  CLI::App app{kAbout, "brigade"};
  std::vector<std::pair<CLI::App*, Invocation>> commands;

  explicit Parser(const std::vector<Command>& rows) {
    app.set_version_flag(
        "--version", [] { return version_text(build_facts(), find_module_file); },
        "print the version and the build");
    app.require_subcommand(1);
    for (const Command& row : rows) {
      CLI::App* const command = app.add_subcommand(row.name, row.help);
      Options options(*command);
      commands.emplace_back(command, row.declare(options));
      command->footer(row.examples);
    }
  }
};

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// "--set", "--limit", ...
std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

Invocation show(std::string text, int exit_code) {
  return [text = std::move(text), exit_code](const StageTypes&, std::int64_t) {
    exit_code == 0 ? print(text) : print_error(text);
    return exit_code;
  };
}

Invocation mistake(const std::string& text) {
  return show(concat("brigade: error: ", text, '\n'), 2);
}

std::optional<Invocation> unknown_command(const CLI::App& app,
                                          const std::vector<std::string>& arguments) {
  if (arguments.size() < 2 || arguments[1].starts_with("-")) return std::nullopt;
  const std::vector<std::string> names = command_names(app);
  if (std::find(names.begin(), names.end(), arguments[1]) != names.end()) return std::nullopt;
  std::string text = concat("unknown command ", quote(arguments[1]), "; ");
  if (arguments[1] == "holders") {
    text += "it is now called \"leases\".  ";
  } else if (const auto meant = did_you_mean(arguments[1], names)) {
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
  const std::vector<std::string> known = flags_of(*command);
  const bool sets = std::find(known.begin(), known.end(), "--set") != known.end();
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const std::string name = argument.substr(0, argument.find('='));
    if (!name.starts_with("--")) continue;
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string next = i + 1 < arguments.size() ? arguments[i + 1] : "";
    const std::string value =
        name.size() < argument.size() ? argument.substr(name.size() + 1) : next;
    if (const auto key = key_as_setting(name.substr(2), value.starts_with("-") ? "" : value);
        sets && key)
      return concat("; write ", *key);
    if (const auto meant = did_you_mean(name, known)) {
      return concat("; did you mean ", *meant, "?");
    }
  }
  return concat("; see `brigade ", command->get_name(), " --help`");
}

}  // namespace

Invocation parse_command_line(const std::vector<std::string>& given,
                              const std::vector<Command>& commands) {
  const std::vector<std::string> arguments = without_help_command(given);
  Parser parser(commands);
  if (arguments.size() < 2) return show(parser.app.help(), 2);
  if (const auto unknown = unknown_command(parser.app, arguments)) return *unknown;
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend() - 1);
  try {
    parser.app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return show(parser.app.help(), 0);
  } catch (const CLI::CallForVersion& version) {
    return show(concat(version.what(), '\n'), 0);
  } catch (const CLI::Error& error) {
    return mistake(concat(error.what(), suggestion(parser.app, arguments)));
  }
  const auto chosen = std::find_if(parser.commands.begin(), parser.commands.end(),
                                   [](const auto& command) { return command.first->parsed(); });
  return chosen->second;
}

std::vector<CommandWords> command_words() {
  const Parser parser(all_commands());
  std::vector<CommandWords> all;
  for (const auto& [command, invocation] : parser.commands)
    all.push_back({command->get_name(), command->get_description(), flags_of(*command)});
  return all;
}

// Here and not beside App's other functions: a program that runs graphs by itself has no commands.
int App::run_command() const {
  try {
    const int code = parse_command_line(arguments_)(types_, started_ns_);
    return code == 0 && output_was_lost() ? 1 : code;
  } catch (const std::bad_alloc&) {
    say_out_of_memory();
  }
}

}  // namespace brigade
