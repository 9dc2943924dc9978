#pragma once

// Applies `mix:`, `weights:` and `repeat_factor:` to an open source: a
// weight for each of its samples, and the number of draws in an epoch.
// Reads the labels of the source or the file of weights; blocks.

#include <cstdint>
#include <memory>
#include <string>

#include <brigade/stage.h>
#include "pipeline/plan/plan.h"
#include "pipeline/records/draws.h"

namespace brigade {

/// The draws of a source that is_drawn(), a MixedProducer where it is a mixture; `subset` is what
/// is read of its `found` samples. Errors, to be read after the stage's name: samples without
/// labels, classes that are not there or have no weight, a file that does not fit, weights that are
/// all 0.
Result<Draws> make_draws(const PlanStage& stage, Producer& source, std::uint64_t found,
                         const Subset& subset);

/// The same where the source is not open and cannot be, of weights that come from a file.
Result<Draws> draws_of_file(const PlanStage& stage, std::uint64_t found);

/// A producer whose samples come by weight: it reads by id (Draws::id()).
class DrawnProducer final : public Producer {
 public:
  /// `source` is open.
  DrawnProducer(std::shared_ptr<Producer> source, Draws draws)
      : source_(std::move(source)), draws_(std::move(draws)) {}

  const Draws& draws() const { return draws_; }

  Result<std::uint64_t> size() override { return source_->size(); }
  std::uint64_t fingerprint() override { return source_->fingerprint(); }
  Result<Next> read(std::uint64_t id, Outputs& out) override {
    return source_->read(draws_.index(id), out);
  }
  std::string describe(std::uint64_t id) const override {
    return source_->describe(draws_.index(id));
  }
  Result<void> close() override { return source_->close(); }

 private:
  std::shared_ptr<Producer> source_;
  Draws draws_;
};

/// Of a producer whose samples come by weight; null: of none, and of any other.
inline const Draws* draws_of(const Producer* producer) {
  const auto* const drawn = dynamic_cast<const DrawnProducer*>(producer);
  return drawn == nullptr ? nullptr : &drawn->draws();
}

}  // namespace brigade
