#include "stages/api/other_names.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <span>

#include <brigade/text.h>

namespace brigade {
namespace {

struct OtherName {
  std::string_view names;  ///< as plain_name() gives them
  std::string_view here;
};

constexpr OtherName kOperations[] = {
    {"padifneeded", "pad"},
    {"centercrop", "center_crop"},
    {"randomcrop", "random_crop"},
    {"fivecrop", "five_crop"},
    {"horizontalflip hflip fliplr randomhorizontalflip", "random_horizontal_flip"},
    {"verticalflip vflip flipud randomverticalflip", "random_vertical_flip"},
    {"randomresizedcrop randomsizedcrop", "random_resized_crop"},
    {"smallestmaxsize resize", "resize"},
    {"rotate saferotate randomrotation", "random_rotation"},
    {"affine shiftscalerotate randomaffine", "random_affine"},
    {"perspective randomperspective", "random_perspective"},
    {"colorjitter randombrightnesscontrast huesaturationvalue", "color_jitter"},
    {"togray grayscale randomgrayscale", "random_grayscale"},
    {"invertimg invert randominvert", "random_invert"},
    {"solarize randomsolarize", "random_solarize"},
    {"posterize randomposterize", "random_posterize"},
    {"autocontrast randomautocontrast", "random_autocontrast"},
    {"equalize randomequalize", "random_equalize"},
    {"gaussianblur", "gaussian_blur"},
    {"sharpen randomadjustsharpness", "random_adjust_sharpness"},
    {"coarsedropout cutout randomerasing", "random_erasing"},
    {"randaugment", "rand_augment"},
    {"trivialaugment trivialaugmentwide", "trivial_augment_wide"},
};

/// Of those, what decode_image does while it decodes.
constexpr std::string_view kDecoded[] = {"random_resized_crop", "center_crop", "resize",
                                         "random_horizontal_flip"};

constexpr OtherName kStages[] = {
    {"imagefolder datasetfolder", "write `producer: image_folder`"},
    {"webdataset wds", "write `producer: tar_shards`"},
    {"mnist fashionmnist kmnist emnist qmnist", "write `producer: idx_images`"},
    {"cifar10 cifar100 cifar", "write `producer: cifar_binary`"},
    {"numpy tensordataset", "write `producer: npy`"},
    {"npz", "`producer: npy` reads .npy files: write each array of the .npz with numpy.save"},
    {"decodejpeg imdecode imread readimage loadimage", "write `transform: decode_image`"},
    {"mixup cutmix randommixup randomcutmix",
     "write `transform: mix_batch` with `params: {mixup: 0.2, cutmix: 1}`"},
    {"normalize totensor totensorv2 toimage todtype convertimagedtype tofloat",
     "set `dtype`, `layout`, `mean` and `std` in the `params:` of `augment` or `normalize_image`"},
    {"compose sequential",
     "list the operations of `transform: augment` in `params: {operations: [...]}`, or the stages "
     "of one process as `transform: [decode_image, augment]`"},
    {"lambda map function func",
     "write `transform: python` with `params: {call: \"FILE.py:FUNCTION\"}`"},
    {"dataset iterabledataset externalsource",
     "write `producer: python` with `params: {call: \"FILE.py:CLASS\"}`"},
    {"clahe medianblur bilateralfilter bilateral morphological morphologyex "
     "canny cvtcolor lensdistortion opticaldistortion undistort elastic elastictransform "
     "warpperspective",
     "use the operation of `transform: opencv` (`brigade docs OPENCV`)"},
    {"batch batcher", "write the key `batch:` at the stage whose output you want batched"},
    {"shuffle shuffler", "write the key `shuffle: true` at the producer"},
    {"prefetch prefetcher",
     "omit it: stages prefetch on their own, as many samples as `buffers:` allows"},
};

/// What a library of Python reads.
constexpr OtherName kFormats[] = {
    {"parquet arrow feather", "pyarrow"},
    {"tfrecord tfrecords tfrecorddataset", "tfrecord"},
    {"hdf5 h5", "h5py"},
    {"lmdb", "lmdb"},
    {"zarr", "zarr"},
    {"mds streamingdataset", "mosaicml-streaming"},
    {"litdata", "litdata"},
    {"jsonl ndjson json", "json"},
    {"sqlite sql", "sqlite3"},
    {"huggingface hfdataset hf", "datasets"},
};

/// `A.Horizontal_Flip`: horizontalflip.
std::string plain_name(std::string_view name) {
  if (const std::size_t dot = name.rfind('.'); dot != name.npos) name.remove_prefix(dot + 1);
  std::string out;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::optional<std::string_view> find_other(std::span<const OtherName> rows, std::string_view name) {
  const std::string wanted = plain_name(name);
  for (const OtherName& row : rows)
    for (const std::string_view one : split(row.names, ' '))
      if (one == wanted) return row.here;
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> operation_elsewhere(std::string_view name) {
  return find_other(kOperations, name);
}

std::optional<std::string> stage_elsewhere(std::string_view name) {
  if (const auto operation = find_other(kOperations, name)) {
    const bool decoded =
        std::find(std::begin(kDecoded), std::end(kDecoded), *operation) != std::end(kDecoded);
    return concat("write `transform: augment` with `params: {operations: [", *operation, "]}`",
                  decoded ? "; `transform: decode_image` does this while decoding" : "");
  }
  if (const auto stage = find_other(kStages, name)) return std::string(*stage);
  if (const auto library = find_other(kFormats, name))
    return concat(
        "no stage type reads this format: write `producer: python` with `params: {call: "
        "\"FILE.py:CLASS\"}`, and read it in that class with ",
        *library);
  return std::nullopt;
}

}  // namespace brigade
