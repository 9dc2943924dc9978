#include "stages/basic/npy_header.h"

#include <gtest/gtest.h>

#include "tests/support/npy_files.h"

namespace brigade {
namespace {

using testing_support::npy_head;
using testing_support::npy_header;

std::string error_of(const std::string& head) {
  const auto header = parse_npy_header("a.npy", head);
  return header ? "no error" : header.error().message;
}

TEST(NpyHeaderTest, ReadsWhatNumpyWritesInEveryVersion) {
  for (int version : {1, 2, 3}) {
    const std::string head = npy_header("<f4", "(3, 28, 28)", version);
    const NpyHeader header = parse_npy_header("a.npy", head + "elements").value();
    EXPECT_EQ(header.dtype, f32);
    EXPECT_EQ(header.shape, (Shape{3, 28, 28}));
    EXPECT_EQ(header.bytes, head.size());
    EXPECT_EQ(header.sample_bytes, 28u * 28 * 4);
  }
  const NpyHeader vector = parse_npy_header("a.npy", npy_header("|u1", "(5,)")).value();
  EXPECT_EQ(vector.shape, Shape{5});
  EXPECT_EQ(vector.sample_bytes, 1u);
}

TEST(NpyHeaderTest, KnowsEveryDtype) {
  const std::pair<const char*, DType> kinds[] = {
      {"|b1", boolean}, {"|u1", u8},  {"|i1", i8},  {"<i2", i16}, {"<i4", i32},
      {"<i8", i64},     {"<f2", f16}, {"<f4", f32}, {"<f8", f64}, {"=f8", f64}};
  for (const auto& [descr, dtype] : kinds)
    EXPECT_EQ(parse_npy_header("a.npy", npy_header(descr, "(2,)"))->dtype, dtype) << descr;
}

TEST(NpyHeaderTest, KeysMayComeInAnyOrder) {
  const auto header = parse_npy_header(
      "a.npy", npy_head("{\"shape\": (2, 3), 'fortran_order': False, 'descr': '<i8'}"));
  EXPECT_EQ(header->shape, (Shape{2, 3}));
  EXPECT_EQ(header->dtype, i64);
}

TEST(NpyHeaderTest, RefusesWhatDoesNotLieThereAsNumbers) {
  EXPECT_EQ(error_of(npy_header("|O", "(2,)")),
            "a.npy: holds Python objects, which cannot be read safely; save an array of numbers");
  EXPECT_EQ(error_of(npy_header(">f4", "(2,)")),
            "a.npy: its numbers (>f4) are big-endian; save "
            "array.astype(array.dtype.newbyteorder('<'))");
  EXPECT_EQ(error_of(npy_header("<U8", "(2,)")),
            "a.npy: holds elements of NumPy's type \"<U8\", expected bool, uint8, int8 to int64, "
            "or float16 to float64; save array.astype(...)");
  EXPECT_EQ(
      error_of(npy_head("{'descr': [('x', '<f4'), ('y', '<i4', (2,))], 'fortran_order': False, "
                        "'shape': (2,), }")),
      "a.npy: holds records of several fields; save each field as an array of its own");
  EXPECT_EQ(error_of(npy_head("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }")),
            "a.npy: is in Fortran order; save numpy.ascontiguousarray(array)");
  EXPECT_EQ(error_of(npy_header("<f4", "()")),
            "a.npy: holds a single number; expected an array whose first axis is the samples");
  EXPECT_EQ(error_of(npy_header("<f4", "(0, 3)")), "a.npy: holds nothing: its shape is [0, 3]");
}

TEST(NpyHeaderTest, RefusesWhatIsNoNpyFile) {
  EXPECT_EQ(error_of(""), "a.npy: is no .npy file: it does not begin with \\x93NUMPY");
  EXPECT_EQ(error_of("PK\x03\x04zip"),
            "a.npy: is an .npz archive; unpack it (unzip) and name the .npy files in it");
  EXPECT_EQ(error_of("\x93NUMPY\x01"), "a.npy: ends in the middle of its header");
  EXPECT_EQ(error_of(npy_header("<f4", "(2,)", 4)),
            "a.npy: is in version 4 of the .npy format, expected 1, 2 or 3");
  const std::string head = npy_header("<f4", "(2,)");
  EXPECT_EQ(error_of(head.substr(0, 60)),
            "a.npy: ends in the middle of its header: 60 of 128 bytes are there");
}

TEST(NpyHeaderTest, RefusesDamagedHeaders) {
  for (const char* text :
       {"", "{", "{'descr'", "{'descr': '<f4'}", "{'descr': '<f4', 'shape': 3}",
        "{'descr': '<f4', 'shape': (3", "{'descr': '<f4', 'shape': (-1,)}",
        "{'descr': '<f4', 'shape': (a,)}", "{'descr': '<f4', 'shape': (2,), 'more': 1}",
        "{'descr': '<f4', 'shape': (99999999999999999999,)}"})
    EXPECT_TRUE(error_of(npy_head(text)).starts_with("a.npy: its header is damaged: ")) << text;
  EXPECT_EQ(error_of(npy_header("<f4", "(4611686018427387904, 4)")),
            "a.npy: its header is damaged: shape [4611686018427387904, 4]");
  EXPECT_EQ(error_of(npy_header("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 1)")),
            "a.npy: has more than 8 dimensions, which is the most");
}

}  // namespace
}  // namespace brigade
