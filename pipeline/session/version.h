#pragma once

// What `brigade --version` says: which sources this is, who compiled it, and the libraries that the
// core and each package were built with. All of it is known when Brigade is built, so that no
// package is opened to ask it; where the packages lie is looked up.

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>

namespace brigade {

struct PackageFacts {
  const char* module;     ///< "image": the file brigade_image.so
  const char* libraries;  ///< "libjpeg-turbo 2.1.5, libpng 1.6.39"
};

struct BuildFacts {
  const char* version;
  const char* commit;  ///< of git; "unknown" outside it
  const char* compiler;
  const char* libraries;  ///< of the core
  std::span<const PackageFacts> packages;
};

/// Of this build: generated (cmake/build_facts.cpp.in).
const BuildFacts& build_facts();

/// A line for each, the first of them "brigade 0.1.0". `find_module`: the file of a module, or
/// nothing where there is none.
std::string version_text(
    const BuildFacts& facts,
    const std::function<std::optional<std::string>(const std::string&)>& find_module);

/// What `brigade plan` says of the packages whose modules a graph opens: a heading and a line for
/// each; empty without any.
std::string libraries_text(const BuildFacts& facts, const std::set<std::string>& modules);

}  // namespace brigade
