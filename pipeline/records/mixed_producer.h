#pragma once

// Several open producers as one, whose samples are those of the first, then those of
// the second, and so on: of each, those that its `skip:`, `split:` and `limit:` leave.
// `mix:` draws from it; the shares become weights of these samples (source_weights.h).
//
// One thread.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <brigade/skipped_inputs.h>
#include <brigade/stage.h>
#include "pipeline/plan/plan.h"
#include "pipeline/plan/subset.h"

namespace brigade {

/// One of them, open.
struct MixedPart {
  PlanStage stage;  ///< of PlanStage::parts
  std::shared_ptr<Producer> producer;
  std::uint64_t found = 0;
  Subset subset;            ///< of these: what is read
  std::uint64_t begin = 0;  ///< index of its first sample in the whole
};

class MixedProducer final : public Producer, public SkipsInputs {
 public:
  /// Asks each for its size, and compares the classes of those that name them. Errors, to be read
  /// after the mixture's name: no samples, none left, other classes.
  static Result<std::unique_ptr<MixedProducer>> make(const PlanStage& mix,
                                                     std::vector<std::shared_ptr<Producer>> open);

  std::vector<MixedPart>& parts() { return parts_; }

  Result<std::uint64_t> size() override { return size_; }
  std::uint64_t fingerprint() override;
  Result<Next> read(std::uint64_t index, Outputs& out) override;
  std::string describe(std::uint64_t index) const override;
  std::vector<SkippedInputs> skipped() const override;
  Result<void> close() override;

 private:
  Result<void> add(const PlanStage& part, std::uint64_t seed, std::shared_ptr<Producer> producer);
  const MixedPart& part_of(std::uint64_t index) const;

  std::vector<MixedPart> parts_;
  std::uint64_t size_ = 0;
};

}  // namespace brigade
