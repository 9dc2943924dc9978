#include "pipeline/cli/commands/graph_template.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <system_error>
#include <utility>

#include <brigade/text.h>

namespace brigade {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEntriesMax = 10'000;  // looked at in one folder

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

bool is_idx(const std::string& name, std::string_view rank) {
  return has(name, concat("idx", rank)) || has(name, concat(".idx", rank));
}

bool is_test(const std::string& name) { return has(name, "t10k") || has(name, "test"); }

bool is_image(const std::string& name) {
  for (std::string_view end : {".jpg", ".jpeg", ".png", ".JPG", ".JPEG", ".PNG"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

void note_file(const std::string& name, FoundData& data) {
  if (is_idx(name, "3")) (is_test(name) ? data.test_images : data.images) = name;
  if (is_idx(name, "1")) (is_test(name) ? data.test_labels : data.labels) = name;
  if (is_image(name) && data.kind == FoundData::Kind::nothing) data.kind = FoundData::Kind::images;
}

// Names of files in the folder, or, of the folders in it, of one level below.
Result<std::vector<std::string>> names_in(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  std::vector<fs::path> below;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) below.push_back(entry->path());
    names.push_back(entry->path().filename().string());
    if (names.size() >= kEntriesMax) break;
  }
  if (error) return Error{concat("cannot look at ", folder, ": ", error.message())};
  for (const fs::path& path : below) {
    for (fs::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      names.push_back(entry->path().filename().string());
      if (names.size() >= kEntriesMax) break;
    }
    error.clear();
  }
  std::sort(names.begin(), names.end());
  return names;
}

constexpr std::string_view kHead = R"(@about@
#   brigade check @name@.yaml     every mistake, before anything runs
#   brigade plan @name@.yaml      what will run, and what it takes
#   brigade run @name@.yaml
brigade: 1                    # version of this language
name: @name@
seed: 7                       # the same samples and random numbers in every run
epochs: 3
)";

constexpr std::string_view kIdx = R"(vars: {data: @folder@}

stages:
  images:
    producer: idx_images
    shuffle: true               # a new order in every epoch
    params:
      images: ${data}/@images@
@labels@
  augment:
    transform: augment_image
    from: images
    replicas: 2                 # processes that share the work
    params: {pad: 2, flip: 0.5}
    batch: 256                  # samples per batch for the stages that read this one
    on_error: {skip: 10}        # or stop (the default)
)";

constexpr std::string_view kIdxLabels = "      labels: ${data}/@labels@\n";

constexpr std::string_view kIdxTest = R"(
  test_images:
    producer: idx_images
    params: {images: "${data}/@images@", labels: "${data}/@labels@"}
    batch: 256
)";

constexpr std::string_view kFolder = R"(vars: {data: @folder@}

stages:
  images:
    producer: image_folder
    shuffle: true               # a new order in every epoch
    params: {root: "${data}"}

  decode:
    transform: decode_image
    from: images
    replicas: auto              # what the cores allow
    params: {crop: random_resized, size: 224, flip: 0.5}
    batch: 64                   # samples per batch for the stages that read this one
    on_error: {skip: 0.1%}      # broken files are named and skipped
)";

constexpr std::string_view kSynthetic = R"(
stages:
  samples:
    producer: synthetic         # `brigade stages` lists what reads real data
    params: {count: 10000, shape: [28, 28, 1], dtype: u8, fill: random}
    batch: 256                  # samples per batch for the stages that read this one
)";

constexpr std::string_view kCount = R"(
  count:
    consumer: count             # `brigade stages` lists what else there is
    from: @from@
)";

constexpr std::string_view kTrain = R"(
  train:
    consumer: torch_classifier
    from: {train: augment}
    device: auto                # a GPU when there is one
    params: {model: small_cnn, optimizer: sgd, lr: 0.05}
)";

constexpr std::string_view kTrainAndTest = R"(
  train:
    consumer: torch_classifier
    from: {train: augment, test: test_images}
    join: epochs                # an epoch of the first source, then one of the second, and so on
    device: auto                # a GPU when there is one
    params: {model: small_cnn, optimizer: sgd, lr: 0.05}
)";

// The text with each @key@ replaced.
std::string filled(std::string_view text,
                   std::initializer_list<std::pair<std::string_view, std::string>> values) {
  std::string out(text);
  for (const auto& [key, value] : values) {
    const std::string mark = concat('@', key, '@');
    for (auto at = out.find(mark); at != out.npos; at = out.find(mark, at + value.size())) {
      out.replace(at, mark.size(), value);
    }
  }
  return out;
}

std::string idx_text(const FoundData& data, bool can_train) {
  const bool labelled = !data.labels.empty();
  const bool train = can_train && labelled;
  const bool test = train && !data.test_images.empty() && !data.test_labels.empty();
  const std::string labels = labelled ? filled(kIdxLabels, {{"labels", data.labels}}) : "";
  std::string text =
      filled(kIdx, {{"folder", quote(data.folder)}, {"images", data.images}, {"labels", labels}});
  if (test) {
    text += filled(kIdxTest, {{"images", data.test_images}, {"labels", data.test_labels}});
  }
  if (!train) return text + filled(kCount, {{"from", "augment"}});
  return text.append(test ? kTrainAndTest : kTrain);
}

}  // namespace

Result<FoundData> look_at_folder(const std::string& folder) {
  FoundData data;
  std::error_code error;
  data.folder = fs::canonical(folder, error).string();
  if (error) return Error{concat("cannot look at ", folder, ": ", error.message())};
  BRIGADE_ASSIGN(const std::vector<std::string> names, names_in(data.folder));
  for (const std::string& name : names) note_file(name, data);
  if (!data.images.empty() && fs::exists(fs::path(data.folder) / data.images, error)) {
    data.kind = FoundData::Kind::idx;
  }
  return data;
}

std::string found_text(const FoundData& data) {
  switch (data.kind) {
    case FoundData::Kind::idx:
      return concat("IDX files (", data.images, data.labels.empty() ? "" : ", ", data.labels, ")");
    case FoundData::Kind::images:
      return "images";
    case FoundData::Kind::nothing:
      break;
  }
  return "nothing that `brigade init` knows (IDX files or images)";
}

bool can_read(const FoundData& data, const StageTypes& types) {
  if (data.kind == FoundData::Kind::nothing) return false;
  return data.kind == FoundData::Kind::idx ||
         (types.find("image_folder") != nullptr && types.find("decode_image") != nullptr);
}

std::string graph_template(const std::string& name, const FoundData& data, const StageTypes& types,
                           bool can_train) {
  const auto head = [&name](const std::string& about) {
    return filled(kHead, {{"name", name}, {"about", about}});
  };
  if (!can_read(data, types)) {
    const std::string why =
        data.kind == FoundData::Kind::nothing ? "" : " This program has no stages for them.";
    return head(concat("# Found in ", data.folder.empty() ? "the folder" : data.folder, ": ",
                       found_text(data), ".", why,
                       "\n# So this graph makes samples up, to try things out with.")) +
           std::string(kSynthetic) + filled(kCount, {{"from", "samples"}});
  }
  if (data.kind == FoundData::Kind::idx) {
    return head("# Images of IDX files, augmented in several processes.") +
           idx_text(data, can_train);
  }
  return head("# Images of a folder, decoded in several processes.") +
         filled(kFolder, {{"folder", quote(data.folder)}}) + filled(kCount, {{"from", "decode"}});
}

}  // namespace brigade
