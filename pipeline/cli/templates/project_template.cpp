#include "pipeline/cli/templates/project_template.h"

#include <algorithm>

#include <brigade/text.h>
#include "pipeline/cli/templates/template_text.h"

namespace brigade {
namespace {

constexpr std::size_t kProjectNameBytesMax = 40;

// In the texts: @name@ is the project's name, @Name@ that of a class.

constexpr std::string_view kStageHeader = R"(#pragma once

#include <brigade/stage_types.h>

/// Registers the stage type `@name@`.
void add_@name@(brigade::StageTypes& types);
)";

constexpr std::string_view kStageSource =
    R"(// The stage type `@name@`: its inputs, its outputs and its work on a sample.

#include "@name@.h"

#include <cmath>

#include <brigade/plugin.h>
#include <brigade/text.h>

namespace {

using namespace brigade;

// The parameters, with their defaults.
struct @Name@Params {
  double factor = 2;
};

// `brigade check` and `brigade plan` need no more than this.
Contract<@Name@Params> contract() {
  return Contract<@Name@Params>("@name@", "Multiplies every number.")
      .transform()
      .param("factor", &@Name@Params::factor, -1e6, 1e6, "factor of every number")
      .input("data", {DType::f32}, {any_size}, "finite numbers")
      .outputs([](const @Name@Params&, const Ports& in) -> Result<Ports> {
        return Ports{*in.find("data")};  // of the same size
      })
      .rest_passes()  // other tensors of the sample pass through
      .example("transform: @name@\nplugin: build/@name@.so\nfrom: numbers\n");
}

class @Name@ : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    params_ = context.params<@Name@Params>();
    return {};
  }

  // One sample. The next stage reads what is written into `out`. An error concerns this sample:
  // `on_error:` of the stage decides what happens.
  Result<Next> process(const Inputs& in, Outputs& out) override {
    const auto from = in["data"].as<float>();
    const auto to = out["data"].as<float>();
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (!std::isfinite(from[i])) return Error{concat("element ", i, " is not a finite number")};
      to[i] = static_cast<float>(from[i] * params_.factor);
    }
    return Next::emit;
  }

 private:
  @Name@Params params_;
};

}  // namespace

void add_@name@(StageTypes& types) { types.add<@Name@>(contract()); }

BRIGADE_PLUGIN(types) { add_@name@(types); }
)";

constexpr std::string_view kStageTest =
    R"(// The stage alone: tensors in, tensors out, without a graph.

#include <cmath>
#include <cstdio>
#include <vector>

#include <brigade/harness.h>
#include "@name@.h"

using namespace brigade;
using testing_support::host_tensor;
using testing_support::StageHarness;

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

}  // namespace

int main() {
  StageTypes types;
  add_@name@(types);
  const auto stage =
      StageHarness::open(*types.find("@name@"),
                         {.params = {{"factor", "3"}}, .inputs = {{"data", DType::f32, {2}}}})
          .value();
  const auto call = stage->process({host_tensor<float>("data", {2}, {1.5F, -2})}).value();
  expect(call["data"] == host_tensor<float>("data", {2}, {4.5F, -6}), "every number times 3");
  expect(!stage->process({host_tensor<float>("data", {2}, {1, NAN})}), "NAN is rejected");
  return failures;
}
)";

constexpr std::string_view kStageBuild =
    R"(# cmake -S . -B build -DCMAKE_PREFIX_PATH=WHERE_BRIGADE_IS_INSTALLED
cmake_minimum_required(VERSION 3.22)
project(@name@ LANGUAGES CXX)

find_package(Brigade REQUIRED)

# The plugin @name@.so. If its work needs a library: brigade_plugin(NAME @name@
# CONTRACT contract.cpp BODY body.cpp LIBRARIES ...), so that `brigade check` need not load it.
brigade_plugin(NAME @name@ CONTRACT @name@.cpp)

enable_testing()
add_executable(@name@_test @name@.cpp @name@_test.cpp)
target_link_libraries(@name@_test PRIVATE Brigade::brigade)
add_test(NAME @name@ COMMAND @name@_test)
)";

constexpr std::string_view kStageGraph = R"(# Generated numbers through the stage type `@name@`:
#   brigade run @name@.yaml
brigade: 1
name: @name@
epochs: 2

stages:
  numbers:
    producer: synthetic
    params: {count: 10000, shape: [16], dtype: f32}
    shuffle: true

  @name@:
    transform: @name@
    plugin: build/@name@.so     # relative to this file
    from: numbers
    replicas: 2                 # processes that share the work
    params: {factor: 3}
    batch: 64

  count:
    consumer: count
    from: @name@
)";

constexpr std::string_view kProgramSource =
    R"(// A loop over the batches of @name@.yaml (or of the file given as an argument).

#include <cstdint>
#include <cstdio>
#include <string>

#include <brigade/pipeline.h>

int main(int argc, char** argv) {
  const brigade::App app(argc, argv);  // first: workers run this program, too, and stay here
  const std::string file = argc > 1 ? argv[1] : "@name@.yaml";
  auto pipeline = brigade::Pipeline::from_file(file);
  if (!pipeline) {
    std::fprintf(stderr, "%s\n", pipeline.error().message.c_str());
    return 2;
  }
  auto run = pipeline->quiet().start(app);
  if (!run) {
    std::fprintf(stderr, "%s\n", run.error().message.c_str());  // every mistake in the graph
    return 2;
  }

  std::int64_t samples = 0;
  double sum = 0;
  for (const brigade::Batch& batch : (*run)->output("train")) {
    // [batch.size(), 16], in the graph's memory, which is released with `batch`.
    for (const float number : batch["data"].as<float>()) sum += number;
    samples += batch.size();
  }
  // The loop ends on failure, too: wait() says which.
  if (const auto ended = (*run)->wait(); !ended) {
    std::fprintf(stderr, "%s\n", ended.error().message.c_str());
    return 1;
  }
  std::printf("%lld samples, mean of all numbers %g\n", static_cast<long long>(samples),
              sum / static_cast<double>(samples * 16));
  return 0;
}
)";

constexpr std::string_view kProgramBuild =
    R"(# cmake -S . -B build -DCMAKE_PREFIX_PATH=WHERE_BRIGADE_IS_INSTALLED
cmake_minimum_required(VERSION 3.22)
project(@name@ LANGUAGES CXX)

find_package(Brigade REQUIRED)

add_executable(@name@ main.cpp)
target_link_libraries(@name@ PRIVATE Brigade::brigade)

enable_testing()
add_test(NAME @name@ COMMAND @name@ ${CMAKE_CURRENT_SOURCE_DIR}/@name@.yaml)
set_tests_properties(@name@ PROPERTIES PASS_REGULAR_EXPRESSION "20000 samples")
)";

constexpr std::string_view kProgramGraph = R"(# Read by the program beside this file:
#   build/@name@ @name@.yaml
brigade: 1
name: @name@
epochs: 2

stages:
  numbers:
    producer: synthetic
    params: {count: 10000, shape: [16], dtype: f32}
    shuffle: true

  scaled:
    transform: passthrough      # your own work, in as many processes as there are cores
    from: numbers
    batch: 64

  train:
    consumer: application       # run->output("train")
    from: scaled
)";

std::string filled(std::string_view text, std::string_view name) {
  std::string type;  // random_noise: RandomNoise
  bool capital = true;
  for (const char c : name) {
    if (c != '_') type += capital && c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c;
    capital = c == '_';
  }
  return fill_template(text, {{"name", std::string(name)}, {"Name", type}});
}

}  // namespace

std::string project_name_problem(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z' && name.size() <= kProjectNameBytesMax &&
      std::all_of(name.begin(), name.end(), is_plain))
    return {};
  return concat("expected a name of small letters, digits and _, at most ", kProjectNameBytesMax,
                ", beginning with a letter, found ", quote(name));
}

std::vector<ProjectFile> stage_project(std::string_view name) {
  const std::string file(name);
  return {{"CMakeLists.txt", filled(kStageBuild, name)},
          {file + ".h", filled(kStageHeader, name)},
          {file + ".cpp", filled(kStageSource, name)},
          {file + "_test.cpp", filled(kStageTest, name)},
          {file + ".yaml", filled(kStageGraph, name)}};
}

std::vector<ProjectFile> program_project(std::string_view name) {
  return {{"CMakeLists.txt", filled(kProgramBuild, name)},
          {"main.cpp", filled(kProgramSource, name)},
          {std::string(name) + ".yaml", filled(kProgramGraph, name)}};
}

}  // namespace brigade
