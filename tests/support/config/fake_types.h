#pragma once

// Stage types for tests of the configuration: contracts of every form, bodies that do nothing. They
// are called like real ones, so that the texts of the golden files read like a user's.

#include <brigade/stage_types.h>
#include "stages/device/device_stages.h"

namespace brigade {

namespace fake {

struct NoProducer : Producer {
  Result<std::uint64_t> size() override { return std::uint64_t{0}; }
  Result<Next> read(std::uint64_t, Outputs&) override { return Next::emit; }
};
struct NoStage : Stage {
  Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
};

struct IdxParams {
  InputPath images;
  InputPath labels;
};
// A header is "H W C" in text; no labels file: no tensor `label`.
inline Result<Ports> idx_outputs(const IdxParams& params, const Ports&,
                                 const FileMetadata& metadata) {
  std::int64_t sizes[3] = {0, 0, 0};
  const FileHeader* file_header = metadata.find("images");
  if (file_header == nullptr ||
      std::sscanf(file_header->header.c_str(), "%ld %ld %ld", &sizes[0], &sizes[1], &sizes[2]) != 3)
    return Error{params.images.path + ": not an IDX file"};
  Ports ports{{"image", u8, {sizes[0], sizes[1], sizes[2]}}};
  if (!params.labels.path.empty()) ports.tensors.push_back({"label", i64, {}});
  return ports;
}

struct SyntheticParams {
  std::int64_t count = 1000;
  std::vector<std::int64_t> shape = {16};
  DType dtype = f32;
};
struct FolderParams {
  InputPath root;
};
struct ShardsParams {
  InputFiles shards;
};
struct AugmentParams {
  std::int64_t pad = 0;
  std::int64_t crop = 0;
  double flip = 0;
};
struct DecodeParams {
  std::int64_t size = 224;
  std::string quality = "antialias";
  std::vector<double> scale = {0.08, 1};
};
struct ClassifierParams {
  std::string model = "small_cnn";
  double lr = 0.1;
  OutputPath log;
  Duration patience{1'000'000'000};
  ByteSize cache{1 << 20};
};
struct NoParams {};
struct SeveralParams {
  std::uint64_t count = 2;
};

inline Result<std::uint64_t> count_of(const SeveralParams& params) {
  if (params.count == 13) return Error{"13 is no number of samples"};
  if (params.count == 14) throw std::runtime_error("thrown\nin several lines");
  return params.count;
}

inline Result<Ports> same_image(const AugmentParams& params, const Ports& in) {
  TensorType image = *in.find("image");
  if (params.crop > 0 && params.crop > image.shape[0].size + 2 * params.pad)
    return Error{"crop is " + std::to_string(params.crop) + ", the padded image has only " +
                 std::to_string(image.shape[0].size + 2 * params.pad) + " rows"};
  if (params.crop > 0) image.shape[0] = image.shape[1] = params.crop;
  return Ports{image};
}

inline void add_application(StageTypes& types) {
  StageType feeds;
  feeds.contract =
      Contract<NoParams>("application", "Takes samples from a program.").producer().erased();
  feeds.contract.application = true;
  types.add(std::move(feeds));
}

inline void add_several(StageTypes& types) {
  types.add<NoStage>(Contract<SeveralParams>("several", "Several samples of each.")
                         .transform()
                         .param("count", &SeveralParams::count, "of each")
                         .expand(count_of)
                         .rest_passes());
}

inline void add_count_and_show(StageTypes& types) {
  types.add<NoStage>(Contract<NoParams>("count", "Counts samples.")
                         .consumer()
                         .takes(Takes::either)
                         .several_inputs());
  types.add<NoStage>(Contract<NoParams>("show", "Shows one sample at a time.").consumer());
}

inline void add_producers(StageTypes& types) {
  add_application(types);
  types.add<NoProducer>(Contract<IdxParams>("idx_images", "Reads IDX files.")
                            .producer()
                            .param("images", &IdxParams::images, "IDX file of images")
                            .required()
                            .file_header()
                            .param("labels", &IdxParams::labels, "IDX file of labels")
                            .outputs(idx_outputs));
  add_to_device(types);
  add_from_device(types);
  types.add<NoProducer>(
      Contract<SyntheticParams>("synthetic", "Makes up tensors.")
          .producer()
          .param("count", &SyntheticParams::count, 0, 1e12, "samples per epoch")
          .param("shape", &SyntheticParams::shape, "sizes of one sample")
          .param("dtype", &SyntheticParams::dtype, "dtype of `data`")
          .counts([](const SyntheticParams& params,
                     const FileMetadata&) -> std::optional<std::uint64_t> {
            if (params.count == 13) throw std::runtime_error("unlucky");
            return static_cast<std::uint64_t>(params.count);
          })
          .outputs([](const SyntheticParams& params, const Ports&) -> Result<Ports> {
            TensorType data{"data", params.dtype, {}};
            for (std::int64_t size : params.shape) data.shape.emplace_back(size);
            return Ports{data};
          }));
  types.add<NoProducer>(Contract<FolderParams>("image_folder", "Lists the images of a folder.")
                            .producer()
                            .param("root", &FolderParams::root, "folder with a folder per class")
                            .required()
                            .outputs([](const FolderParams&, const Ports&) -> Result<Ports> {
                              return Ports{{"path", u8, {up_to(4096)}}, {"label", i64, {}}};
                            }));
  types.add<NoProducer>(Contract<ShardsParams>("tar_shards", "Lists the images of archives.")
                            .producer()
                            .param("shards", &ShardsParams::shards, "the archives")
                            .required()
                            .outputs([](const ShardsParams&, const Ports&) -> Result<Ports> {
                              return Ports{{"file", u8, {up_to(4096)}}, {"label", i64, {}}};
                            }));
  types.add<NoStage>(Contract<NoParams>("camera", "Frames of a camera.")
                         .producer()
                         .outputs([](const NoParams&, const Ports&) -> Result<Ports> {
                           return Ports{{"frame", u8, {480, 640, 3}}};
                         }));
}

inline void add_transforms(StageTypes& types) {
  types.add<NoStage>(Contract<AugmentParams>("augment_image", "Pads, crops and mirrors.")
                         .transform()
                         .param("pad", &AugmentParams::pad, 0, 1024, "pixels added on every side")
                         .param("crop", &AugmentParams::crop, 0, 1024, "side of the cut, pixels")
                         .param("flip", &AugmentParams::flip, 0, 1, "probability of mirroring")
                         .input("image", {u8}, {any_size, any_size, any_size}, "HWC")
                         .rest_passes()
                         .draws([](const AugmentParams& params) { return params.flip > 0; })
                         .outputs(same_image));
  types.add<NoStage>(
      Contract<DecodeParams>("decode_image", "Decodes an image.")
          .transform()
          .param("size", &DecodeParams::size, 1, 16384, "side of the output, pixels")
          .choice<std::string>("quality", &DecodeParams::quality,
                               {{"antialias", "antialias"}, {"bilinear", "bilinear"}},
                               "how it is resized")
          .param("scale", &DecodeParams::scale, 0, 1, "part of the area that is cut out")
          .one_of({{"path", {u8}, false, {up_to(4096)}, "name of a file"},
                   {"encoded", {u8}, false, {up_to(64 << 20)}, "bytes of a file"}})
          .rest_passes()
          .outputs([](const DecodeParams& params, const Ports&) -> Result<Ports> {
            return Ports{{"image", u8, {params.size, params.size, 3}}};
          }));
  types.add<NoStage>(Contract<NoParams>("passthrough", "Hands every sample on.")
                         .transform()
                         .takes(Takes::either)
                         .several_inputs()
                         .rest_passes());
  types.add<NoStage>(Contract<SeveralParams>("cache", "Keeps what it reads.")
                         .transform()
                         .param("count", &SeveralParams::count, "room")
                         .caches([](const SeveralParams& params) {
                           return std::optional<std::uint64_t>(params.count);
                         })
                         .rest_passes());
  add_several(types);
  types.add<NoStage>(Contract<NoParams>("merge", "Makes one source of several.")
                         .transform()
                         .several_inputs()
                         .rest_passes()
                         .flat_map([](const NoParams&) { return std::uint64_t{1}; }));
  types.add<NoStage>(Contract<NoParams>("running_mean", "Subtracts the mean so far.")
                         .transform()
                         .takes(Takes::batches)
                         .stateful()
                         .input("image", {}, {any_size, any_size, any_size}, "HWC")
                         .outputs([](const NoParams&, const Ports& in) -> Result<Ports> {
                           TensorType image = *in.find("image");
                           image.dtype = f32;
                           return Ports{image};
                         }));
  types.add<NoStage>(Contract<NoParams>("difference", "Subtracts two images.")
                         .transform()
                         .several_inputs()
                         .input("left.image", {u8}, {any_size, any_size, 3}, "HWC")
                         .input("right.image", {u8}, {any_size, any_size, 3}, "HWC")
                         .rest_passes()
                         .outputs([](const NoParams&, const Ports& in) -> Result<Ports> {
                           TensorType image = *in.find("left.image");
                           image.name = "image";
                           return Ports{image};
                         }));
}

inline void add_consumers(StageTypes& types) {
  types.add<NoStage>(
      Contract<ClassifierParams>("torch_classifier", "Trains a classifier.")
          .consumer()
          .takes(Takes::batches)
          .several_inputs({"train", "test"})
          .choice<std::string>("model", &ClassifierParams::model,
                               {{"small_cnn", "small_cnn"}, {"mlp", "mlp"}}, "network")
          .param("lr", &ClassifierParams::lr, 0, 10, "learning rate")
          .param("log", &ClassifierParams::log, "file for the loss curve")
          .param("patience", &ClassifierParams::patience, "longest wait")
          .param("cache", &ClassifierParams::cache, 4096, 1e9, "memory for the index")
          .input("image", {u8, f32}, {up_to(256), up_to(256), any_size}, "HWC")
          .input("label", {i64}, {}, "class"));
  types.add<NoStage>(
      Contract<NoParams>("learner", "Learns, and saves what it has learned.").consumer().saves());
  add_count_and_show(types);
}

}  // namespace fake

}  // namespace brigade
