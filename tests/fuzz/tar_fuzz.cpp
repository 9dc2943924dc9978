// Bytes as a tar archive in the WebDataset layout: samples whose images, labels and other members
// lie inside it, or one line that says what is wrong.

#include <string>

#include <brigade/check.h>
#include "stages/image/index/shard_scan.h"
#include "tests/fuzz/entry.h"

namespace brigade {
namespace {

void check_place(std::uint64_t offset, std::uint64_t size, std::string_view archive) {
  BRIGADE_CHECK(offset >= 512 && offset <= archive.size(), offset);
  BRIGADE_CHECK(size <= archive.size() - offset, offset, size);
}

void read(std::string_view archive, const TarFields& fields, const ClassNames* classes = nullptr) {
  const auto bytes_at = [archive](std::uint64_t offset,
                                  std::size_t size) -> Result<std::string_view> {
    if (offset >= archive.size()) return std::string_view();
    return archive.substr(offset, size);
  };
  const auto scan = scan_shard_bytes(bytes_at, archive.size(), fields, classes);
  if (!scan) {
    const std::string& message = scan.error().message;
    BRIGADE_CHECK(!message.empty() && message.find('\n') == message.npos, message);
    return;
  }
  std::uint64_t keys_end = 0;
  for (std::size_t i = 0; i < scan->samples.size(); ++i) {
    const TarSample& sample = scan->samples[i];
    BRIGADE_CHECK(sample.key_at == keys_end, sample.key_at);
    keys_end += sample.key_bytes;
    BRIGADE_CHECK(sample.image < fields.image.size());
    const auto state = static_cast<TarState>(sample.state);
    BRIGADE_CHECK(state <= TarState::bad_label);
    if (state != TarState::no_image) check_place(sample.offset, sample.size, archive);
    if (fields.names && state == TarState::good)
      BRIGADE_CHECK(sample.label >= 0 && static_cast<std::size_t>(sample.label) <
                                             (classes ? classes->size() : scan->names.size()));
    for (const auto& extra : scan->extras)
      if (extra[i].offset != 0) check_place(extra[i].offset, extra[i].size, archive);
  }
  BRIGADE_CHECK(keys_end == scan->keys.size(), keys_end);
  for (const std::string& name : scan->names) BRIGADE_CHECK(parse_class_name(name).ok());
  const std::string unread = scan->unread.text(fields, kSkipTextBytesMax);
  BRIGADE_CHECK(unread.find('\n') == unread.npos, unread);
}

}  // namespace

void fuzz(std::string_view archive) {
  read(archive, {{"jpg", "png"}, {"cls"}, "", {"txt"}});
  read(archive, {{"jpg"}, {"json"}, "label", {"json"}});
  read(archive, {{"jpg"}, {}, "", {}});
  read(archive, {{"jpg"}, {"cls", "txt"}, "", {}, true, ""});
  read(archive, {{"jpg"}, {"json"}, "label", {}, true, ""});
  const auto classes = ClassNames::of_lines(archive.substr(0, 64));  // or an error
  if (classes) read(archive, {{"jpg"}, {"cls"}, "", {}, true, "c"}, &*classes);
}

}  // namespace brigade
