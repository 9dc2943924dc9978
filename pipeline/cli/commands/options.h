#pragma once

// Declares the arguments of a command for the command-line library,
// which only options.cpp and command_line.cpp know. The parser
// writes values into the given variables, which must outlive it.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/api/load_and_plan.h"

namespace CLI {
class App;
}

namespace brigade {

class Options {
 public:
  explicit Options(CLI::App& command) : command_(command) {}

  /// FILE..., --set, --limit.
  void graph(GraphFiles& graph);
  /// --output. Without it, a graph that has no consumer is one that a program reads.
  void outputs(GraphFiles& graph);
  void flag(const std::string& name, bool& value, const std::string& help);
  /// `takes`: the value's name in the help. A name without dashes is the word that follows.
  void text(const std::string& name, std::string& value, const std::string& help,
            const std::string& takes = " ");
  void texts(const std::string& name, std::vector<std::string>& values, const std::string& help,
             const std::string& takes);
  void number(const std::string& name, std::uint64_t& value, std::uint64_t from, std::uint64_t to,
              const std::string& help, const std::string& takes = " ");

  // Of what has been declared:
  void required(const std::string& name);
  void excludes(const std::string& name, const std::string& other);
  void one_of(const std::string& name, const std::vector<std::string>& values);
  /// `problem` gives what is wrong with a text, or an empty one.
  void check(const std::string& name, std::function<std::string(const std::string&)> problem);

 private:
  CLI::App& command_;
};

}  // namespace brigade
