#include "stages/detail/exec_stage.h"

#include <brigade/contract.h>

namespace brigade {
namespace {

struct ExecParams {};  // they are the program's

Contract<ExecParams> contract_of(std::string help) {
  return Contract<ExecParams>(std::string(kExecType), std::move(help));
}

StageType source_type() {
  StageType type;
  type.contract = contract_of("A program that makes samples.").producer().may_drop().erased();
  type.indexed = true;
  return type;
}

StageType transform_type() {
  StageType type;
  type.contract = contract_of("A program that changes samples.")
                      .transform()
                      .takes(Takes::either)
                      .several_inputs()
                      .rest_passes()
                      .may_drop()
                      .erased();
  return type;
}

StageType consumer_type() {
  StageType type;
  type.contract = contract_of("A program that uses samples up.")
                      .consumer()
                      .takes(Takes::either)
                      .several_inputs()
                      .erased();
  return type;
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
  static const StageType kSource = source_type();
  static const StageType kTransform = transform_type();
  static const StageType kConsumer = consumer_type();
  if (kind == StageKind::producer) return kSource;
  return kind == StageKind::transform ? kTransform : kConsumer;
}

}  // namespace brigade
