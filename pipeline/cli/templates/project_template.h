#pragma once

// A template for a new stage type or program: the files of a folder that builds
// against an installed Brigade and tests itself. Pure: a name in, texts out.

#include <string>
#include <string_view>
#include <vector>

namespace brigade {

struct ProjectFile {
  std::string path;  ///< in the project's folder
  std::string text;
};

/// What is wrong with a project's name, which becomes one of files, classes and stage types; empty:
/// nothing.
std::string project_name_problem(std::string_view name);

/// A plugin with one stage type, a test of it, and a graph that uses it.
std::vector<ProjectFile> stage_project(std::string_view name);

/// A program that reads a graph's batches in a loop of its own, and that graph.
std::vector<ProjectFile> program_project(std::string_view name);

}  // namespace brigade
