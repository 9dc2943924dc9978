#pragma once

// The sources and the compiler of this build, and the libraries
// that the core and each package were built with. All of it is
// known when Brigade is built, so that no package is opened for it.

#include <span>

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

/// Generated (cmake/build_facts.cpp.in).
const BuildFacts& build_facts();

}  // namespace brigade
