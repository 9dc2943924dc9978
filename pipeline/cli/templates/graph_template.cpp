#include "pipeline/cli/templates/graph_template.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <brigade/text.h>
#include "pipeline/cli/templates/template_text.h"
#include "stages/api/file_patterns.h"

namespace brigade {
namespace {

constexpr std::string_view kHead = R"(@about@
#   brigade check @name@.yaml     every mistake, before anything runs
#   brigade plan @name@.yaml      what will run and what it needs
@runs@
brigade: 1                    # version of this language
name: @quoted@
seed: 7                       # the same samples and random numbers in every run
@epochs@)";

constexpr std::string_view kIdx = R"(vars: {data: @folder@}

stages:
  images:
    producer: idx_images
    shuffle: true               # a new order in every epoch
@part@    params:
      images: @images@
@labels@
  augment:
    transform: augment_image
    from: images
    replicas: 2                 # processes that share the work
    params: {pad: 2, flip: 0.5}
    batch: 256                  # samples per batch for the stages that read this one
    on_error: {skip: 10}        # or stop (the default)
)";

constexpr std::string_view kIdxLabels = "      labels: @labels@\n";

constexpr std::string_view kIdxTest = R"(
  test_images:
    producer: idx_images
@part@    params: {images: @images@, labels: @labels@}
    batch: 256
)";

constexpr std::string_view kImages = R"(vars: {data: @folder@}

stages:
  images:
    producer: image_folder      # labels:@labels@
    shuffle: true               # a new order in every epoch
@part@    params: {root: @train@}

  decode:
    transform: decode_image
    from: images
    replicas: auto              # what the cores allow
    params: {crop: random_resized, size: 64, flip: 0.5}
    batch: 64                   # samples per batch for the stages that read this one
    on_error: {skip: 10}        # broken files are named and skipped; or stop (the default)
)";

constexpr std::string_view kTestImages = R"(
  test_images:
    producer: image_folder
@part@    params: {root: @test@}

  test_decode:
    transform: decode_image
    from: test_images
    replicas: auto
    params: {crop: center, size: 64}
    batch: 64
    on_error: {skip: 10}
)";

constexpr std::string_view kListed = R"(vars: {data: @folder@}

stages:
  images:
    producer: @producer@
    shuffle: true               # a new order in every epoch
@part@    params:
@params@
  decode:
    transform: decode_image
    from: images
    replicas: auto              # what the cores allow
    params: {crop: random_resized, size: 224, flip: 0.5}
    batch: 64                   # samples per batch for the stages that read this one
    on_error: {skip: 10}        # broken files are named and skipped; or stop (the default)
)";

constexpr std::string_view kListedTest = R"(
  test_images:
    producer: @producer@
@part@    params:
@params@
  test_decode:
    transform: decode_image
    from: test_images
    replicas: auto
    params: {crop: center, resize: 256, size: 224}
    batch: 64
    on_error: {skip: 10}
)";

// Where there is nothing else to evaluate on.
constexpr std::string_view kTrainPart =
    R"(    split: {train: 0.9, seed: 1}  # the rest is for evaluation
    part: train
)";
constexpr std::string_view kTestPart = R"(    split: {train: 0.9, seed: 1}
    part: val
)";

constexpr std::string_view kNumbers = R"(vars: {data: @folder@}

stages:
  rows:
    producer: csv
    shuffle: true               # a new order in every epoch
    params:
@params@    batch: 64                   # samples per batch for the stages that read this one
)";

constexpr std::string_view kSynthetic = R"(
stages:
  samples:
    producer: synthetic         # `brigade stages` lists producers for real data
    params: {count: 10000, shape: [28, 28, 1], dtype: u8, fill: random}
    batch: 256                  # samples per batch for the stages that read this one
)";

constexpr std::string_view kCount = R"(
  count:
    consumer: count             # `brigade stages` lists other consumers
    from: @from@
)";

// Behind it, of what is listed, where the classes could not be counted.
constexpr std::string_view kHowToTrain = R"(# To train, replace `count:` with this and write the
# number of classes, which is unknown:
#   train:
#     consumer: torch_classifier
#     from: {train: decode}
#     device: auto
#     params: {model: resnet18, classes: 10, optimizer: sgd, lr: 0.05}
)";
constexpr std::string_view kNothingToLearn = "# No labels were found: training is not possible.\n";

constexpr std::string_view kTrainAndTest = R"(
  train:
    consumer: torch_classifier
    from: {train: @train@, test: @test@}
    join: epochs                # an epoch of the first source, then of the second, and so on
    device: auto                # a GPU when there is one
    params: {model: @model@, @classes@optimizer: sgd, lr: 0.05}
)";

constexpr std::string_view kReadByScript = R"(
  train:                        # train.py reads it
    consumer: application
    from: @train@

  evaluate:                     # train.py reads it after each epoch
    consumer: application
    from: @test@
)";

std::string path_of(const std::string& name) {
  return name.empty() ? "\"${data}\"" : concat("\"${data}/", yaml_text(name).substr(1));
}

std::string param_line(std::string_view name, std::string_view value) {
  return concat("      ", name, ": ", value, '\n');
}

/// `classes`: 0 where the data say it. `names`: those that the source does not tell.
std::string train_text(Trainer trainer, const std::string& train, const std::string& test,
                       const std::string& model, std::size_t classes,
                       const std::vector<std::string>& names = {}) {
  if (trainer == Trainer::script)
    return fill_template(kReadByScript, {{"train", train}, {"test", test}});
  std::string said;
  if (classes > 0) said = concat("classes: ", std::max<std::size_t>(classes, 2), ", ");
  if (const std::string list = yaml_list(names); !list.empty())
    said += concat("names: ", list, ", ");
  return fill_template(kTrainAndTest,
                       {{"train", train}, {"test", test}, {"model", model}, {"classes", said}});
}

std::string part_of(bool divided, std::string_view is) { return std::string(divided ? is : ""); }

std::string idx_text(const FoundData& data, Trainer trainer) {
  const bool divided = is_divided(data, trainer);
  std::string labels;
  if (!data.labels.empty()) labels = fill_template(kIdxLabels, {{"labels", path_of(data.labels)}});
  std::string text = fill_template(kIdx, {{"folder", yaml_text(data.folder)},
                                          {"part", part_of(divided, kTrainPart)},
                                          {"images", path_of(data.images)},
                                          {"labels", labels}});
  if (trainer == Trainer::none || labels.empty())
    return text + fill_template(kCount, {{"from", "augment"}});
  text += fill_template(kIdxTest, {{"part", part_of(divided, kTestPart)},
                                   {"images", path_of(divided ? data.images : data.test_images)},
                                   {"labels", path_of(divided ? data.labels : data.test_labels)}});
  return text + train_text(trainer, "augment", "test_images", "small_cnn", 0);
}

std::string classes_text(const FoundData& data, Trainer trainer) {
  constexpr std::size_t kLabelsShown = 5;
  std::string labels;
  for (std::size_t i = 0; i < std::min(data.classes.size(), kLabelsShown); ++i)
    labels +=
        concat(" ", i, " ", comment_text(data.classes[i]), i + 1 < data.classes.size() ? "," : "");
  if (data.classes.size() > kLabelsShown) labels += " ...";
  const bool divided = is_divided(data, trainer);
  std::string text = fill_template(kImages, {{"folder", yaml_text(data.folder)},
                                             {"labels", labels},
                                             {"part", part_of(divided, kTrainPart)},
                                             {"train", path_of(data.train)}});
  if (trainer == Trainer::none) return text + fill_template(kCount, {{"from", "decode"}});
  text += fill_template(kTestImages, {{"part", part_of(divided, kTestPart)},
                                      {"test", path_of(divided ? data.train : data.test)}});
  return text + train_text(trainer, "decode", "test_decode", "small_cnn", data.classes.size());
}

/// Images that are listed, trained on where it is known how many classes there are.
/// `params`: of the producer, for training and for evaluation.
std::string listed_text(const FoundData& data, Trainer trainer, std::string_view producer,
                        const std::string& folder, const std::string& params,
                        const std::string& test_params) {
  const bool trains = trainer != Trainer::none && data.class_count > 0;
  const bool divided = is_divided(data, trainer);
  std::string text = fill_template(kListed, {{"folder", yaml_text(folder)},
                                             {"producer", std::string(producer)},
                                             {"part", part_of(divided, kTrainPart)},
                                             {"params", params}});
  if (!trains) {
    text += fill_template(kCount, {{"from", "decode"}});
    if (data.label.empty()) return text + std::string(kNothingToLearn);
    return trainer == Trainer::classifier ? text + std::string(kHowToTrain) : text;
  }
  text += fill_template(kListedTest, {{"producer", std::string(producer)},
                                      {"part", part_of(divided, kTestPart)},
                                      {"params", divided ? params : test_params}});
  return text +
         train_text(trainer, "decode", "test_decode", "resnet18", data.class_count, data.classes);
}

std::string shards_text(const FoundData& data, Trainer trainer) {
  const bool archives = is_wildcard(data.train) || is_wildcard(data.test);
  const bool wildcard = archives || is_wildcard(data.folder);
  const std::string folder = wildcard ? literal_wildcard(data.folder) : data.folder;
  const auto shards = [&](const std::string& name) {
    const bool literal = wildcard && !is_wildcard(name);
    return param_line("shards", path_of(literal ? literal_wildcard(name) : name));
  };
  std::string params;
  if (!data.image.empty()) params += param_line("image", concat('[', yaml_text(data.image), ']'));
  if (data.label != "cls")
    params += param_line("label", data.label.empty() ? "none" : yaml_text(data.label));
  if (!data.label_field.empty()) params += param_line("label_field", data.label_field);
  if (data.label_is_name) params += param_line("labels", "names");
  return listed_text(data, trainer, "tar_shards", folder, shards(data.train) + params,
                     shards(data.test) + params);
}

std::string table_params(const FoundData& data, const std::string& table) {
  std::string params = param_line("file", path_of(table));
  if (!data.header) params += param_line("header", "false");
  if (data.separator == "\t") params += param_line("separator", R"("\t")");
  if (data.separator == ";" || data.separator == " ")
    params += param_line("separator", yaml_text(data.separator));
  return params;
}

std::string list_text(const FoundData& data, Trainer trainer) {
  std::string params = param_line("path", yaml_text(data.image));
  params += param_line("label", data.label.empty() ? "none" : yaml_text(data.label));
  if (data.label_is_name) params += param_line("labels", "names");
  if (!data.root.empty()) params += param_line("root", path_of(data.root));
  return listed_text(data, trainer, "image_list", data.folder,
                     table_params(data, data.table) + params,
                     table_params(data, data.test) + params);
}

std::string numbers_text(const FoundData& data) {
  std::vector<std::string> features;
  for (const std::string& name : data.features) features.push_back(yaml_text(name));
  const std::string vector = concat("features: [", join(features, ", "), "]");
  const std::string label = data.label.empty() ? ""
                                               : concat(vector.size() == 12 ? "" : ", ",
                                                        "label: ", yaml_text(data.label));
  std::string params = table_params(data, data.table);
  params += param_line("columns", concat('{', vector, label, '}'));
  if (!label.empty())
    params += param_line("dtypes", data.label_is_name ? "{label: text}" : "{label: i64}");
  return fill_template(kNumbers, {{"folder", yaml_text(data.folder)}, {"params", params}}) +
         fill_template(kCount, {{"from", "rows"}});
}

}  // namespace

bool is_divided(const FoundData& data, Trainer trainer) {
  if (trainer == Trainer::none) return false;
  if (data.kind == FoundData::Kind::idx)
    return !data.labels.empty() && (data.test_images.empty() || data.test_labels.empty());
  const bool learns = data.kind == FoundData::Kind::classes || data.class_count > 0;
  return learns && data.test.empty();
}

std::string graph_template(const std::string& name, const FoundData& data, Trainer trainer) {
  const bool script = trainer == Trainer::script;
  const auto head = [&name, script](const std::string& about) {
    const std::string shown = comment_text(name);
    return fill_template(kHead, {{"name", shown},
                                 {"quoted", name_text(name)},
                                 {"about", about},
                                 {"runs", script ? "#   python train.py"
                                                 : concat("#   brigade run ", shown, ".yaml")},
                                 {"epochs", script ? "" : "epochs: 3\n"}});
  };
  switch (data.kind) {
    case FoundData::Kind::nothing:
      break;
    case FoundData::Kind::idx:
      return head("# Images of IDX files, augmented in several processes.") +
             idx_text(data, trainer);
    case FoundData::Kind::classes:
      return head("# Images of a folder per class, decoded in several processes.") +
             classes_text(data, trainer);
    case FoundData::Kind::shards:
      return head("# Images of tar archives, decoded in several processes.") +
             shards_text(data, trainer);
    case FoundData::Kind::list:
      return head("# Images listed in a table, decoded in several processes.") +
             list_text(data, trainer);
    case FoundData::Kind::numbers:
      return head("# Numbers of a table.") + numbers_text(data);
  }
  return head("# Generated samples, to try things out.") + std::string(kSynthetic) +
         fill_template(kCount, {{"from", "samples"}});
}

}  // namespace brigade
