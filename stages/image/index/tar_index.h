#pragma once

// The samples of tar archives in the WebDataset layout: adjacent members
// whose names are equal up to the first dot of their last part are one
// sample, and the rest is the member's extension (case is ignored):
//
//   n01440764/10026.jpg  n01440764/10026.cls  n01440764/10026.json  n01440764/10027.jpg ...
//
// An index over them has the archive, the place of the image and the label
// of each sample, so that samples can be read in any order directly from
// the archives. Its format is that of index_file.h. Samples are numbered in
// their order, archive after archive. Immutable; any thread may read it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/path_stamp.h>
#include <brigade/result.h>
#include <brigade/skipped_inputs.h>
#include <brigade/stage_contract.h>
#include "stages/image/index/index_file.h"

namespace brigade {

struct UnreadKeys;

/// Which members make a sample.
struct TarFields {
  std::vector<std::string> image;  ///< extensions of images, in small letters
  std::vector<std::string> label;  ///< of labels, the first of them that a key has; empty: none
  std::string label_field;         ///< of JSON labels, "a.b"; others are text
  std::vector<std::string> extra;  ///< extensions of members that are wanted as bytes
  bool names = false;              ///< labels are names of classes, not whole numbers
  std::string classes = {};        ///< file that numbers the names; empty: their sorted order does
};

/// Whether label_field is looked up in the labels with this extension.
inline bool is_json_name(std::string_view extension) { return extension.ends_with("json"); }

/// What may be wrong with a sample; it keeps its number, and reading it is the error. Of a
/// bad_label, `offset` and `size` are the label's, and `label` says which of TarFields::label.
enum class TarState : std::uint16_t { good, no_image, empty_image, no_label, bad_label };

struct TarSample {
  std::uint64_t offset;  ///< of the image
  std::int64_t label;
  std::uint64_t key_at;
  std::uint32_t size;
  std::uint16_t key_bytes;
  std::uint8_t state;  ///< TarState
  std::uint8_t image;  ///< which of TarFields::image
};
static_assert(sizeof(TarSample) == 32);

/// Where a member lies in its archive; offset 0: the sample has none.
struct TarPlace {
  std::uint64_t offset;
  std::uint64_t size;
};

class TarIndex {
 public:
  /// Reads the headers of the archives (a few at a time): the bytes of an index. Errors, each
  /// beginning with the archive's path: what TarWalk finds, samples that come twice, two images in
  /// one, no sample at all.
  static Result<std::string> scan(const std::vector<std::string>& shards, const TarFields& fields);

  /// Of archives that have no sample, as scan() says it.
  static Error no_samples(const std::vector<std::string>& shards, const TarFields& fields,
                          const UnreadKeys& unread, const std::vector<SkippedInputs>& skipped);

  /// The archives that an index was made from, in their order.
  static std::vector<std::string> shards_of(const IndexFile& file);

  /// What no parameter asks for beside the images and labels of an index:
  /// UnreadKeys::members_text().
  static std::string_view unread_members(const IndexFile& file);

  /// Whether these archives have the sizes and times that they had, and the same was wanted.
  static bool is_current(const IndexFile& file, const std::vector<std::string>& shards,
                         const TarFields& fields) {
    return is_current(file.made_from(), shards, fields, stamp_of);
  }
  static bool is_current(std::string_view made_from, const std::vector<std::string>& shards,
                         const TarFields& fields, const StampOf& stamp);
  /// What of() will find, by the sections' sizes alone, and what lies beside it.
  static std::optional<SampleCount> size_of(const IndexStart& start);

  TarIndex() = default;
  /// `shards`: how many archives. An error, to be read after the file's name, where the parts do
  /// not fit each other.
  static Result<TarIndex> of(const IndexFile& file, std::size_t shards, const TarFields& fields);

  std::uint64_t size() const { return samples_.size(); }
  const TarSample& at(std::uint64_t index) const { return samples_[index]; }
  /// In which archive; shards() where the index is damaged.
  std::size_t shard(std::uint64_t index) const;
  std::size_t shards() const { return begins_.size() - 1; }
  std::string_view key(std::uint64_t index) const;
  TarPlace extra(std::uint64_t index, std::size_t which) const;
  /// Names of the classes by their numbers, each with a line end behind it; empty where labels are
  /// whole numbers.
  std::string_view classes() const { return classes_; }
  std::size_t class_count() const;
  bool has_class(std::string_view name) const;

 private:
  std::span<const TarSample> samples_;
  std::span<const std::uint64_t> begins_;  // the first sample of each archive, and the end
  std::string_view keys_;
  std::string_view classes_;
  std::vector<std::span<const TarPlace>> extras_;
};

/// A name as key and extension, as WebDataset takes it apart; no extension where its last part has
/// no dot, begins with one, or ends with its first.
struct TarName {
  std::string_view key;
  std::string extension;  ///< in small letters
};
TarName split_tar_name(std::string_view name);

/// The whole number that a label's text is, spaces around it left out.
Result<std::int64_t> parse_label(std::string_view text);

}  // namespace brigade
