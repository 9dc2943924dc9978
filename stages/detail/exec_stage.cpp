#include "stages/detail/exec_stage.h"

#include <brigade/contract.h>
#include <brigade/text.h>

namespace brigade {
namespace {

struct ExecParams {};  // they are the program's

struct Types {
  StageType source;
  StageType transform;
  StageType consumer;

  const StageType& of(StageKind kind) const {
    if (kind == StageKind::producer) return source;
    return kind == StageKind::transform ? transform : consumer;
  }
};

/// `what`: "A program" that makes samples, changes them, or uses them up.
Types types_of(std::string_view name, std::string_view what) {
  const auto contract = [&](std::string_view does) {
    return Contract<ExecParams>(std::string(name), concat(what, " that ", does, "."));
  };
  Types types;
  types.source.contract = contract("makes samples").producer().may_drop().erased();
  types.source.indexed = true;
  types.transform.contract = contract("changes samples")
                                 .transform()
                                 .takes(Takes::either)
                                 .several_inputs()
                                 .rest_passes()
                                 .may_drop()
                                 .erased();
  types.consumer.contract =
      contract("uses samples up").consumer().takes(Takes::either).several_inputs().erased();
  return types;
}

const Error kAsks{"a program of `exec:` asks for its records"};

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
  static const Types kTypes = types_of(kExecType, "A program");
  return kTypes.of(kind);
}

const StageType& python_type(StageKind kind) {
  static const Types kTypes = types_of(kPythonType, "A function in Python");
  return kTypes.of(kind);
}

}  // namespace brigade
