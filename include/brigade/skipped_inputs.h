#pragma once

// Inputs that a source found but does not output: a file of another kind, a
// member without a sample, samples beyond `limit:`. A run reports them at its
// start and in its summary, so that no sample is lost silently. Plain data.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/export.h>

namespace brigade {

enum class SkipReason : std::uint8_t {
  limit,     ///< by `limit:`
  ranks,     ///< read by the other ranks
  uneven,    ///< cannot be divided among ranks: `uneven: drop`
  hidden,    ///< its name begins with a dot
  no_match,  ///< does not match the parameters
  no_file,   ///< a link or a device where bytes are expected
  blank,     ///< an empty line
  skip,      ///< by `skip:`
  split      ///< in other parts of `split:`
};

/// "limit", "no_match": the word for programs.
BRIGADE_API std::string_view skip_reason_name(SkipReason why);

/// True if no parameter asked for it, so it may be a mistake.
constexpr bool is_surprising(SkipReason why) {
  return why == SkipReason::no_match || why == SkipReason::no_file;
}

struct SkippedInputs {
  SkipReason why = SkipReason::no_match;
  std::uint64_t count = 0;
  std::string text;  ///< read after the count: "files that are not images (.txt)"
  friend bool operator==(const SkippedInputs&, const SkippedInputs&) = default;
};

/// Base of a Producer that may skip inputs that it has found.
class SkipsInputs {
 public:
  virtual ~SkipsInputs() = default;
  /// Called after open(). The runtime reports what it skips itself (`limit:`, other ranks).
  virtual std::vector<SkippedInputs> skipped() const = 0;
};

inline constexpr std::size_t kSkipReasonsMax = 12;     ///< of a source; more are not reported
inline constexpr std::size_t kSkipTextBytesMax = 120;  ///< a longer text is cut

/// Counts skipped inputs while a source scans; keeps a few examples of each kind. One thread.
class SkipTally {
 public:
  /// `what`: in the plural, such as "files that are not images"; `example`: of a name, any bytes.
  BRIGADE_API void add(SkipReason why, std::string_view what, std::string_view example = {});
  BRIGADE_API void add(const SkipTally& other);
  /// In the order in which the kinds appeared.
  BRIGADE_API std::vector<SkippedInputs> list() const;

 private:
  struct Kind {
    SkipReason why;
    std::string what;
    std::uint64_t count = 0;
    std::vector<std::string> examples;
  };
  void add(SkipReason why, std::string_view what, std::uint64_t count, std::string_view example);

  std::vector<Kind> kinds_;
};

}  // namespace brigade
