#include "pipeline/records/mixed_producer.h"

#include <algorithm>
#include <utility>

#include <brigade/labels.h>
#include <brigade/random.h>
#include <brigade/text.h>
#include "base/units.h"
#include "pipeline/report/source_audit.h"

namespace brigade {
namespace {

std::vector<std::string> names_of_classes(const MixedPart& part) {
  const auto* const labels = dynamic_cast<const TellsLabels*>(part.producer.get());
  return labels == nullptr ? std::vector<std::string>() : labels->label_names();
}

/// Labels are places of names: where both have one, it has to be the same.
Result<void> compare_classes(const MixedPart& first, const MixedPart& other) {
  const std::vector<std::string> a = names_of_classes(first);
  const std::vector<std::string> b = names_of_classes(other);
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (a[i] != b[i])
      return Error{concat("label ", i, " is ", quote(a[i]), " in ", quote(first.stage.name),
                          " and ", quote(b[i]), " in ", quote(other.stage.name),
                          "; give both the same classes")};
  return {};
}

}  // namespace

Result<std::unique_ptr<MixedProducer>> MixedProducer::make(
    const PlanStage& mix, std::vector<std::shared_ptr<Producer>> open) {
  auto mixed = std::make_unique<MixedProducer>();
  for (std::size_t i = 0; i < open.size(); ++i)
    if (auto added = mixed->add(mix.parts[i], mix.seed, std::move(open[i])); !added)
      return added.error().within(mix.parts[i].name);
  for (std::size_t i = 1; i < mixed->parts_.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      BRIGADE_TRY(compare_classes(mixed->parts_[j], mixed->parts_[i]));
  return mixed;
}

Result<void> MixedProducer::add(const PlanStage& part, std::uint64_t seed,
                                std::shared_ptr<Producer> producer) {
  MixedPart added{part, std::move(producer), 0, {}, size_};
  BRIGADE_ASSIGN(added.found, added.producer->size());
  added.subset = Subset(part, seed, added.found);
  if (added.subset.size() == 0)
    return Error{concat("its source has ", format_samples(added.found),
                        added.found == 0 ? "" : ", but `skip:` and `split:` leave none of them")};
  size_ += added.subset.size();
  parts_.push_back(std::move(added));
  return {};
}

const MixedPart& MixedProducer::part_of(std::uint64_t index) const {
  return *(std::upper_bound(
               parts_.begin(), parts_.end(), index,
               [](std::uint64_t wanted, const MixedPart& part) { return wanted < part.begin; }) -
           1);
}

std::uint64_t MixedProducer::fingerprint() {
  std::uint64_t hash = 0;
  for (const MixedPart& part : parts_)
    hash = mix64(hash ^ mix64(part.found ^ mix64(part.producer->fingerprint())));
  return hash;
}

Result<Next> MixedProducer::read(std::uint64_t index, Outputs& out) {
  const MixedPart& part = part_of(index);
  return part.producer->read(part.subset(index - part.begin), out);
}

std::string MixedProducer::describe(std::uint64_t index) const {
  const MixedPart& part = part_of(index);
  return concat(part.stage.name, ": ", part.producer->describe(part.subset(index - part.begin)));
}

std::vector<SkippedInputs> MixedProducer::skipped() const {
  std::vector<SkippedInputs> all;
  for (const MixedPart& part : parts_) {
    add_skipped(all, left_out(part.stage, part.subset, part.subset.size(), {}));
    if (const auto* const source = dynamic_cast<const SkipsInputs*>(part.producer.get()))
      add_skipped(all, source->skipped());
  }
  return all;
}

Result<void> MixedProducer::close() {
  for (const MixedPart& part : parts_)
    if (auto closed = part.producer->close(); !closed)
      return closed.error().within(part.stage.name);
  return {};
}

}  // namespace brigade
