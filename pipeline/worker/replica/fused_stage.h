#pragma once

// The body of a fused stage (stages/detail/fused_stage.h): each record goes through the
// links one after the other. A tensor that a link writes and a later link consumes is in
// private memory; a tensor that remains at the end is written directly into the stage's
// slot by the link that makes it; nothing is copied. open() allocates all memory. A link
// draws random numbers from the stream STREAM/LINK, and its reports are called LINK.NAME.

#include <memory>
#include <string>
#include <vector>

#include <brigade/stage.h>
#include "pipeline/records/record_codec.h"
#include "stages/detail/fused_stage.h"

namespace brigade {

class FusedStage final : public Stage {
 public:
  /// `bodies`: one per link. `random`: name of the stage's random stream. `type` outlives this.
  FusedStage(const StageType& type, std::vector<std::unique_ptr<Stage>> bodies, std::string random,
             bool batched);
  ~FusedStage() override;

  Result<void> open(const OpenContext& context) override;
  /// Next::drop of a link is that of the fused stage. Errors name the link.
  Result<Next> process(const Inputs& in, Outputs& out) override;
  Result<void> epoch_end(const EpochEnd& end) override;
  Result<void> close() override;

 private:
  struct Link;

  void make_fields(std::size_t index, const FusedPorts& ports);
  void bind(const Frame& from, const Frame& to);
  void begin(Link& link, const Frame& from, Frame& to);

  const StageType* type_;
  std::vector<Link> links_;
  std::string random_;
  bool batched_;
  bool bound_ = false;
  std::uint64_t slots_ = 1;
};

}  // namespace brigade
