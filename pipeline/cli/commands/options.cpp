#include "pipeline/cli/commands/options.h"

#include <CLI/CLI.hpp>

#include "pipeline/config/language/subset_parser.h"

namespace brigade {

void Options::graph(GraphFiles& graph) {
  command_.add_option("FILE", graph.files, "YAML files; later files override earlier ones")
      ->option_text("...")
      ->required();
  texts("--set", graph.sets, "set a key of the YAML, such as stages.augment.replicas=4; repeatable",
        "KEY=VALUE");
  command_
      .add_option_function<std::string>(
          "--limit", [&graph](const std::string& text) { graph.limit = *parse_limit(text); },
          "only N samples, or a share such as 10%, of every indexed producer")
      ->option_text("N")
      ->check([](const std::string& text) {
        const auto limit = parse_limit(text);
        return limit ? std::string() : limit.error().message;
      });
}

void Options::outputs(GraphFiles& graph) {
  graph.may_lack_consumers = true;
  command_
      .add_option_function<std::vector<std::string>>(
          "--output", [&graph](const std::vector<std::string>& names) { graph.read = names; },
          "only what brigade.Loader(graph, output=STAGE) reads; repeatable")
      ->option_text("STAGE")
      ->expected(1)
      ->take_all();
}

void Options::flag(const std::string& name, bool& value, const std::string& help) {
  command_.add_flag(name, value, help)->option_text(" ");
}

void Options::text(const std::string& name, std::string& value, const std::string& help,
                   const std::string& takes) {
  command_.add_option(name, value, help)->option_text(takes);
}

void Options::texts(const std::string& name, std::vector<std::string>& values,
                    const std::string& help, const std::string& takes) {
  command_.add_option(name, values, help)->option_text(takes)->expected(1)->take_all();
}

void Options::number(const std::string& name, std::uint64_t& value, std::uint64_t from,
                     std::uint64_t to, const std::string& help, const std::string& takes) {
  command_.add_option(name, value, help)->option_text(takes)->check(CLI::Range(from, to));
}

void Options::required(const std::string& name) { command_.get_option(name)->required(); }

void Options::excludes(const std::string& name, const std::string& other) {
  command_.get_option(name)->excludes(command_.get_option(other));
}

void Options::one_of(const std::string& name, const std::vector<std::string>& values) {
  command_.get_option(name)->check(CLI::IsMember(values));
}

void Options::check(const std::string& name,
                    std::function<std::string(const std::string&)> problem) {
  command_.get_option(name)->check(std::move(problem));
}

}  // namespace brigade
