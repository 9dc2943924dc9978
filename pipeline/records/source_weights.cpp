#include "pipeline/records/source_weights.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include <brigade/labels.h>
#include <brigade/text.h>
#include "base/shared_path.h"
#include "base/units.h"
#include "pipeline/config/language/weights_parser.h"
#include "pipeline/records/mixed_producer.h"

namespace brigade {
namespace {

constexpr std::size_t kClassesShown = 5;

/// Of an open source: of each sample that is read, and how many of a class these are.
struct ReadLabels {
  std::vector<std::int64_t> of_samples;          // by position in the subset
  std::map<std::int64_t, std::uint64_t> counts;  // by class
  std::vector<std::string> names;                // of classes 0, 1, ...; may be none
};

Result<ReadLabels> read_labels(Producer& source, const Subset& subset) {
  auto* const labels = dynamic_cast<TellsLabels*>(&source);
  if (labels == nullptr)
    return Error{
        "`weights:` by class and `repeat_factor:` need labels, but this source has none; write "
        "`weights: FILE`, with a number for each sample"};
  ReadLabels out;
  out.names = labels->label_names();
  out.of_samples.reserve(subset.size());
  for (std::uint64_t i = 0; i < subset.size(); ++i) {
    const Result<std::int64_t> label = labels->label_of(subset(i));
    if (!label) return label.error().within("`weights:` and `repeat_factor:` need all labels");
    out.of_samples.push_back(*label);
    ++out.counts[*label];
  }
  return out;
}

std::string class_name(const ReadLabels& labels, std::int64_t label) {
  const bool named = label >= 0 && static_cast<std::size_t>(label) < labels.names.size();
  return named ? labels.names[static_cast<std::size_t>(label)] : concat(label);
}

std::optional<std::int64_t> class_of(const ReadLabels& labels, const std::string& name) {
  const auto found = std::ranges::find(labels.names, name);
  if (found != labels.names.end()) return found - labels.names.begin();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = error == std::errc{} && end == name.data() + name.size();
  if (!labels.names.empty() || !whole) return std::nullopt;
  return number;
}

std::string some_classes(const ReadLabels& labels) {
  std::vector<std::string> shown;
  for (const auto& [label, count] : labels.counts)
    if (shown.size() < kClassesShown) shown.push_back(class_name(labels, label));
  return concat(join(shown, ", "), labels.counts.size() > shown.size() ? ", ..." : "");
}

using ByClass = std::map<std::int64_t, double>;

Result<ByClass> weights_of_classes(const Weights& weights, const ReadLabels& labels,
                                   Producer& source, std::uint64_t found) {
  ByClass out;
  std::optional<double> others;
  for (const auto& [name, weight] : weights.classes) {
    const auto label = class_of(labels, name);
    if (!label && name == kOtherClasses) {
      others = weight;
      continue;
    }
    // What is read may be a part without it.
    bool there = label && (labels.counts.contains(*label) || !labels.names.empty());
    auto& all = dynamic_cast<TellsLabels&>(source);
    for (std::uint64_t i = 0; label && !there && i < found; ++i) {
      const auto other = all.label_of(i);
      there = other && *other == *label;
    }
    if (!there)
      return Error{concat("`weights`: the source has no class ", quote(name), "; its classes are ",
                          some_classes(labels))};
    out[*label] = weight;
  }
  for (const auto& [label, count] : labels.counts) {
    if (out.contains(label)) continue;
    if (!others)
      return Error{concat("`weights`: class ", quote(class_name(labels, label)),
                          " has no weight; write one, or `others: 1` for the remaining classes")};
    out[label] = *others;
  }
  return out;
}

std::vector<double> spread(const ByClass& weights, const ReadLabels& labels) {
  std::vector<double> out;
  out.reserve(labels.of_samples.size());
  for (const std::int64_t label : labels.of_samples) out.push_back(weights.at(label));
  return out;
}

/// Of the samples that are read.
Result<std::vector<double>> weights_of_file(const std::string& written, std::uint64_t found,
                                            const Subset& subset) {
  auto bytes = read_whole_file(written);
  const auto table = bytes ? std::nullopt : column_of(written);
  if (table) bytes = read_whole_file(table->file);
  if (!bytes) return bytes.error();
  const std::string& path = table ? table->file : written;
  BRIGADE_ASSIGN(const std::vector<double> all,
                 parse_weights_file(path, *bytes, table ? table->column : ""));
  if (all.size() != found)
    return Error{concat(path, ": has ", format_count(all.size()), " weights, but its source has ",
                        format_samples(found))};
  std::vector<double> out;
  out.reserve(subset.size());
  for (std::uint64_t i = 0; i < subset.size(); ++i) out.push_back(all[subset(i)]);
  return out;
}

/// Of class c among all: r(c) = max(1, sqrt(t / share of c)), as Gupta, Dollar and Girshick have it
/// ("LVIS: A dataset for large vocabulary instance segmentation", 2019).
ByClass repeat_factors(const RepeatFactor& repeat, const ReadLabels& labels) {
  ByClass out;
  for (const auto& [label, count] : labels.counts) {
    const double share = static_cast<double>(count) / static_cast<double>(labels.of_samples.size());
    const double below = static_cast<double>(repeat.below) / static_cast<double>(kWholeShare);
    out[label] = std::max(1.0, std::sqrt(below / share));
  }
  return out;
}

ByClass balanced(const ReadLabels& labels) {
  ByClass out;
  for (const auto& [label, count] : labels.counts) out[label] = 1 / static_cast<double>(count);
  return out;
}

Result<std::vector<double>> weights_of(const PlanStage& stage, Producer& source,
                                       std::uint64_t found, const Subset& subset) {
  if (!is_drawn(stage)) return std::vector<double>(subset.size(), 1);
  if (!stage.weights.file.empty()) return weights_of_file(stage.weights.file, found, subset);
  BRIGADE_ASSIGN(const ReadLabels labels, read_labels(source, subset));
  if (stage.weights.balanced) return spread(balanced(labels), labels);
  if (stage.repeat_factor.below != 0)
    return spread(repeat_factors(stage.repeat_factor, labels), labels);
  BRIGADE_ASSIGN(const ByClass classes, weights_of_classes(stage.weights, labels, source, found));
  return spread(classes, labels);
}

double sum_of(const std::vector<double>& weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  return sum;
}

/// Of each part what its own weights are, so that their sum is its share.
Result<std::vector<double>> weights_of_mix(const Mix& mix, MixedProducer& source) {
  std::vector<double> out;
  for (std::size_t i = 0; i < mix.shares.size(); ++i) {
    const auto& [name, share] = mix.shares[i];
    MixedPart& part = source.parts()[i];
    auto weights = weights_of(part.stage, *part.producer, part.found, part.subset);
    if (!weights) return weights.error().within(name);
    const double sum = sum_of(*weights);
    if (sum == 0 && share != 0)
      return Error{concat(name, ": all its weights are 0, expected at least one above 0")};
    for (const double weight : *weights) out.push_back(share == 0 ? 0 : weight / sum * share);
  }
  return out;
}

Result<Draws> draws_by(const std::vector<double>& weights, const PlanStage& stage,
                       std::uint64_t found, const Subset& subset) {
  const double sum = sum_of(weights);
  if (sum == 0)
    return Error{concat("the weights of all ", format_samples(subset.size()),
                        " are 0, expected at least one above 0")};
  std::uint64_t size = epoch_samples(stage, subset.size());
  if (size == 0) size = static_cast<std::uint64_t>(std::ceil(sum));
  return Draws(weights, size, stage.seed, found, subset);
}

}  // namespace

Result<Draws> make_draws(const PlanStage& stage, Producer& source, std::uint64_t found,
                         const Subset& subset) {
  BRIGADE_ASSIGN(const std::vector<double> weights,
                 stage.mix.any() ? weights_of_mix(stage.mix, dynamic_cast<MixedProducer&>(source))
                                 : weights_of(stage, source, found, subset));
  return draws_by(weights, stage, found, subset);
}

Result<Draws> draws_of_file(const PlanStage& stage, std::uint64_t found) {
  if (stage.weights.file.empty()) return Error{"its weights are not from a file"};
  const Subset subset(stage, stage.seed, found);
  BRIGADE_ASSIGN(const std::vector<double> weights,
                 weights_of_file(stage.weights.file, found, subset));
  return draws_by(weights, stage, found, subset);
}

}  // namespace brigade
