#include "stages/detail/exec_stage.h"

#include <brigade/contract.h>
#include <brigade/text.h>

namespace brigade {
namespace {

struct ExecParams {};  // they are the program's

struct PythonParams {
  std::string call;
  std::string python = "python3";
  Duration import_timeout{60'000'000'000};
};

struct Types {
  StageType source;
  StageType transform;
  StageType consumer;

  const StageType& of(StageKind kind) const {
    if (kind == StageKind::producer) return source;
    return kind == StageKind::transform ? transform : consumer;
  }
};

/// `what`: "A program" that makes samples, changes them, or uses them up. `declare(contract)`: its
/// parameters.
template <class Params, class Declare>
Types types_of(std::string_view name, std::string_view what, Declare declare) {
  const auto contract = [&](std::string_view does) {
    Contract<Params> made(std::string(name), concat(what, " that ", does, "."));
    declare(made);
    return made;
  };
  Types types;
  types.source.contract = contract("produces samples").producer().may_drop().erased();
  types.source.indexed = true;
  types.transform.contract = contract("transforms samples")
                                 .transform()
                                 .takes(Takes::either)
                                 .several_inputs()
                                 .rest_passes()
                                 .may_drop()
                                 .erased();
  types.consumer.contract =
      contract("consumes samples").consumer().takes(Takes::either).several_inputs().erased();
  return types;
}

const Error kAsks{"a program of `exec:` must fetch its records"};

class ExecStage final : public Stage {
 public:
  Result<Next> process(const Inputs&, Outputs&) override { return kAsks; }
};

class ExecSource final : public Producer {
 public:
  explicit ExecSource(std::uint64_t samples) : samples_(samples) {}
  Result<std::uint64_t> size() override { return samples_; }
  Result<Next> read(std::uint64_t, Outputs&) override { return kAsks; }

 private:
  std::uint64_t samples_;
};

}  // namespace

std::unique_ptr<Stage> make_exec_stage() { return std::make_unique<ExecStage>(); }

std::unique_ptr<Producer> make_exec_source(std::uint64_t samples) {
  return std::make_unique<ExecSource>(samples);
}

const StageType& exec_type(StageKind kind) {
  static const Types kTypes = types_of<ExecParams>(kExecType, "A program", [](auto&) {});
  return kTypes.of(kind);
}

const StageType& python_type(StageKind kind) {
  static const Types kTypes =
      types_of<PythonParams>(kPythonType, "A function in Python", [](Contract<PythonParams>& of) {
        of.param(std::string(kPythonParams[0]), &PythonParams::call,
                 "FILE.py:NAME or MODULE:NAME; write its own parameters next to this one")
            .required()
            .param(std::string(kPythonParams[1]), &PythonParams::python,
                   "the Python interpreter; it must have the package `brigade`")
            .param(std::string(kPythonParams[2]), &PythonParams::import_timeout,
                   "time limit for the imports of the file");
      });
  return kTypes.of(kind);
}

StageTypes python_types() {
  StageTypes types;
  for (const StageKind kind : {StageKind::producer, StageKind::transform, StageKind::consumer})
    types.add(python_type(kind));
  return types;
}

}  // namespace brigade
