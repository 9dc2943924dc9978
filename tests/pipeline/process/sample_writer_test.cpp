#include "pipeline/process/sample_writer.h"

#include <gtest/gtest.h>

#include <vector>

namespace brigade {
namespace {

template <class T>
struct Held {
  std::vector<T> elements;
  Shape shape;
  TensorView view() const { return {elements.data(), dtype_of<T>(), shape}; }
};

TEST(SampleWriter, PicturesBecomePng) {
  for (const Shape& shape : {Shape{4, 6}, Shape{8, 3, 1}, Shape{2, 4, 3}, Shape{2, 3, 4}}) {
    const Held<std::uint8_t> picture{std::vector<std::uint8_t>(24), shape};
    EXPECT_EQ(tensor_file(picture.view()).ending, ".png");
  }
}

TEST(SampleWriter, OtherTensorsBecomeNumpyFiles) {
  const Held<std::uint8_t> many_channels{std::vector<std::uint8_t>(40), {2, 4, 5}};
  const Held<std::uint8_t> flat{std::vector<std::uint8_t>(24), {24}};
  const Held<std::uint8_t> line{std::vector<std::uint8_t>(24), {1, 24}};
  const Held<float> floats{std::vector<float>(24), {4, 6}};
  EXPECT_EQ(tensor_file(many_channels.view()).ending, ".npy");
  EXPECT_EQ(tensor_file(flat.view()).ending, ".npy");
  EXPECT_EQ(tensor_file(line.view()).ending, ".npy");
  EXPECT_EQ(tensor_file(floats.view()).ending, ".npy");
}

TEST(SampleWriter, ANumpyFileHasItsTypeShapeAndBytes) {
  const Held<float> held{{1.5f, -2.0f}, {2, 1}};
  const std::string bytes = encode_npy(held.view());
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const std::size_t header =
      static_cast<std::uint8_t>(bytes[8]) + 256u * static_cast<std::uint8_t>(bytes[9]);
  EXPECT_EQ((10 + header) % 64, 0u);
  EXPECT_EQ(bytes.substr(10, 60), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, ), ");
  EXPECT_EQ(bytes[10 + header - 1], '\n');
  EXPECT_EQ(bytes.substr(10 + header), std::string("\0\0\xc0\x3f\0\0\0\xc0", 8));
}

TEST(SampleWriter, ScalarsAreShownAsText) {
  EXPECT_EQ(scalar_text(Held<std::int64_t>{{-7}, {}}.view()), "-7");
  EXPECT_EQ(scalar_text(Held<std::uint8_t>{{65}, {}}.view()), "65");
  EXPECT_EQ(scalar_text(Held<float>{{0.5f}, {}}.view()), "0.5");
  EXPECT_EQ(scalar_text(Held<Half>{{{0x3c00}}, {}}.view()), "bits 15360");
}

}  // namespace
}  // namespace brigade
