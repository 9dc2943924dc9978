#include "stages/api/npy_header.h"
#include "stages/basic/half_float.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/harness.h>
#include <brigade/labels.h>
#include "stages/basic/basic_stages.h"
#include "tests/support/images/idx_files.h"
#include "tests/support/message_of.h"
#include "tests/support/only_type.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;

TEST(NpyTest, AFileThatChangedAfterTheCheckIsRefused) {
  const TemporaryFolder folder;
  const std::string points = folder.write("points.npy", npy_header("<f4", "(1, 2)") + "floats..");
  const StageType& type = only_type<add_npy>();
  const auto params = make_params(type.contract, {{"files", "{x: " + points + "}"}}).value();
  OpenContext context;
  context.params_data = params.get();
  context.params_type = type.contract.params_type;
  context.outputs = {{"x", f32, {5}}};
  EXPECT_EQ(type.make_producer()->open(context).error().message,
            points + ": changed since the graph was checked: it now gives x f32[2]");
}

std::string error_of(const std::string& head) {
  return message_of(parse_npy_header("a.npy", head));
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

TEST(NpyHeaderTest, PrintsWhatItReads) {
  for (const Shape& shape : {Shape{7}, Shape{60000, 28, 28}}) {
    for (const DType dtype : {boolean, u8, i8, i16, i32, i64, f16, f32, f64}) {
      const std::string head = print_npy_header(dtype, shape).value();
      EXPECT_EQ(head.size() % 64, 0u);
      const auto read = parse_npy_header("a.npy", head);
      ASSERT_TRUE(read.ok()) << read.error().message;
      EXPECT_EQ(read->dtype, dtype);
      EXPECT_EQ(read->shape, shape);
      EXPECT_EQ(read->bytes, head.size());
    }
  }
  EXPECT_FALSE(print_npy_header(bf16, Shape{7}));
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
            "a.npy: its numbers are big-endian; save "
            "array.astype(array.dtype.newbyteorder('<'))");
  EXPECT_EQ(error_of(npy_header("<U8", "(2,)")),
            "a.npy: holds elements of NumPy's type \"<U8\", expected bool, int8 to int64, uint8 to "
            "uint64, or float16 to float64; save array.astype(...)");
  EXPECT_EQ(error_of(npy_header("<u4", "(2,)")),
            "a.npy: holds unsigned numbers of 32 bits; save array.astype(numpy.int64)");
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

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The value of a half, by the definition of the format.
float value_of(Half half) {
  const int exponent = half.bits >> 10 & 31;
  const int mantissa = half.bits & 1023;
  const float sign = half.bits & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
}

TEST(HalfFloatTest, EveryFiniteHalfIsItsOwnNearest) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits >> 10 & 31) == 31) continue;
    const Half half{static_cast<std::uint16_t>(bits)};
    ASSERT_EQ(to_half(value_of(half)).bits, bits);
  }
}

TEST(HalfFloatTest, MidpointsGoToTheEvenNeighbour) {
  for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const Half low{bits};
    const Half high{static_cast<std::uint16_t>(bits + 1)};
    const float middle = (value_of(low) + value_of(high)) / 2;
    ASSERT_EQ(to_half(middle).bits, bits % 2 == 0 ? low.bits : high.bits);
    ASSERT_EQ(to_half(std::nextafter(middle, 0.0f)).bits, low.bits);
    ASSERT_EQ(to_half(std::nextafter(middle, kInfinity)).bits, high.bits);
  }
}

TEST(HalfFloatTest, BeyondTheLargestIsInfinityAndNanStays) {
  EXPECT_EQ(to_half(65519.996f).bits, 0x7bff);
  EXPECT_EQ(to_half(65520).bits, 0x7c00);
  EXPECT_EQ(to_half(-kInfinity).bits, 0xfc00);
  EXPECT_EQ(to_half(std::numeric_limits<float>::quiet_NaN()).bits & 0x7fff, 0x7e00);
}

TEST(BFloat16Test, RoundsTheUpperHalfToEven) {
  EXPECT_EQ(to_bfloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(to_bfloat16(-2.0f).bits, 0xc000);
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3f808000)).bits, 0x3f80);
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3f818000)).bits, 0x3f82);
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3f808001)).bits, 0x3f81);
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x7f800001)).bits, 0x7fc0);
}

}  // namespace
}  // namespace brigade
