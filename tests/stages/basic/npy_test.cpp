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

namespace brigade {
namespace {

using namespace testing_support;

/// What numpy.save writes before the elements, in one of the format's versions.
std::string npy_head(std::string_view dictionary, int version = 1) {
  const std::size_t prefix = version == 1 ? 10 : 12;
  std::string header(dictionary);
  while ((prefix + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  for (std::size_t i = 8; i < prefix; ++i)
    out += static_cast<char>(header.size() >> 8 * (i - 8) & 255);
  return out + header;
}

/// The header of an array in C order: npy_header("<f4", "(3, 2)").
std::string npy_header(std::string_view descr, std::string_view shape, int version = 1) {
  return npy_head("{'descr': '" + std::string(descr) +
                      "', 'fortran_order': False, 'shape': " + std::string(shape) + ", }",
                  version);
}

template <class T>
std::string raw_bytes(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

class NpyTest : public testing::Test {
 protected:
  NpyTest() { add_npy(types_); }

  Result<std::unique_ptr<StageHarness>> open(const std::string& files) {
    return StageHarness::open(types_.all()[0], {{{"files", files}}, {}, {}});
  }
  std::string error_of(const std::string& files) { return message_of(open(files)); }

  StageTypes types_;
  TempFolder folder_;
  const std::string points_ = write_file(
      folder_ / "points.npy", npy_header("<f4", "(3, 2)") + raw_bytes<float>({1, 2, 3, 4, 5, 6}));
  const std::string points_one_ =
      write_file(folder_ / "one.npy", npy_header("<f4", "(1,)") + raw_bytes<float>({1}));
  const std::string labels_ = write_file(
      folder_ / "labels.npy", npy_header("<i8", "(3,)", 2) + raw_bytes<std::int64_t>({7, 8, 9}));
};

TEST_F(NpyTest, GivesARowOfEveryFile) {
  const auto stage = open("{point: " + points_ + ", label: " + labels_ + "}").value();
  EXPECT_EQ(stage->outputs(), (Ports{{"point", f32, {2}}, {"label", i64, {}}}));
  EXPECT_EQ(*stage->producer().size(), 3u);
  const HarnessCall call = stage->read(2).value();
  EXPECT_EQ(call["point"].as<float>(), (std::vector<float>{5, 6}));
  EXPECT_EQ(call["label"].as<std::int64_t>(), std::vector<std::int64_t>{9});
  EXPECT_EQ(stage->producer().describe(1), "row 1 of points.npy");
}

TEST_F(NpyTest, TheFingerprintIsThatOfTheFiles) {
  const auto fingerprint = [this](const std::string& labels) {
    return open("{point: " + points_ + ", label: " + labels + "}")
        .value()
        ->producer()
        .fingerprint();
  };
  const std::uint64_t first = fingerprint(labels_);
  EXPECT_NE(first, 0u);
  const auto labels = [this](const std::string& name, std::int64_t last) {
    return write_file(folder_ / name,
                      npy_header("<i8", "(3,)", 2) + raw_bytes<std::int64_t>({7, 8, last}));
  };
  EXPECT_EQ(fingerprint(labels("copied.npy", 9)), first);
  EXPECT_NE(fingerprint(labels("other.npy", 10)), first);
}

TEST_F(NpyTest, UnsignedBigEndianAndFortranArraysAreConverted) {
  const auto row_of = [&](const std::string& head, const std::string& bytes, std::uint64_t row) {
    const std::string path = write_file(folder_ / "converted.npy", head + bytes);
    return open("{x: " + path + "}").value()->read(row).value()["x"];
  };
  EXPECT_EQ(
      row_of(npy_header("<u2", "(2,)"), raw_bytes<std::uint16_t>({1, 65535}), 1).as<std::int32_t>(),
      std::vector<std::int32_t>{65535});
  EXPECT_EQ(row_of(npy_header("<u4", "(1, 2)"), raw_bytes<std::uint32_t>({1, 4294967295U}), 0)
                .as<std::int64_t>(),
            (std::vector<std::int64_t>{1, 4294967295}));
  EXPECT_EQ(row_of(npy_header("<u8", "(1,)"), raw_bytes<std::uint64_t>({1ULL << 62}), 0)
                .as<std::int64_t>(),
            std::vector<std::int64_t>{std::int64_t{1} << 62});
  EXPECT_EQ(
      row_of(npy_header(">f4", "(2,)"), std::string("\x3f\x80\0\0\xc0\0\0\0", 8), 1).as<float>(),
      std::vector<float>{-2});
  EXPECT_EQ(row_of(npy_header(">u2", "(1, 2)"), std::string("\1\2\xff\0", 4), 0).as<std::int32_t>(),
            (std::vector<std::int32_t>{258, 65280}));
  // numpy.arange(24).reshape(2, 3, 4) in Fortran order
  std::vector<std::int16_t> fortran;
  for (std::int16_t k = 0; k < 4; ++k)
    for (std::int16_t j = 0; j < 3; ++j)
      for (std::int16_t i = 0; i < 2; ++i)
        fortran.push_back(static_cast<std::int16_t>(12 * i + 4 * j + k));
  const std::string head =
      npy_head("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 4), }");
  const HostTensor row = row_of(head, raw_bytes(fortran), 1);
  EXPECT_EQ(row.as<std::int16_t>(),
            (std::vector<std::int16_t>{12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}));
}

TEST_F(NpyTest, ANumberThatDoesNotFitIsAnErrorOfItsSample) {
  const std::string path = write_file(
      folder_ / "label.npy", npy_header("<u8", "(2,)") + raw_bytes<std::uint64_t>({7, 1ULL << 63}));
  const auto stage = open("{label: " + path + "}").value();
  EXPECT_EQ(*dynamic_cast<TellsLabels&>(stage->producer()).label_of(0), 7);
  EXPECT_EQ(message_of(stage->read(1)),
            path + ": row 1 has a number that does not fit i64 (uint64)");
}

TEST_F(NpyTest, Bfloat16OfMlDtypesIsSaid) {
  const std::string path = write_file(
      folder_ / "short.npy", npy_header("<V2", "(1, 2)") + raw_bytes<std::uint16_t>({1, 0x3f80}));
  const auto with = [&](const std::string& dtypes) {
    return StageHarness::open(
        types_.all()[0],
        {{{"files", "{x: " + path + ", y: " + points_one_ + "}"}, {"dtypes", dtypes}}, {}, {}});
  };
  const auto stage = with("{x: bf16}").value();
  EXPECT_EQ(stage->outputs(), (Ports{{"x", bf16, {2}}, {"y", f32, {}}}));
  EXPECT_EQ(stage->read(0).value()["x"].as<BFloat16>()[1].bits, 0x3f80);
  EXPECT_EQ(message_of(with("{}")),
            path +
                ": holds elements of 2 bytes that NumPy does not know (<V2); the source npy "
                "reads bfloat16 of ml_dtypes with `dtypes: {TENSOR: bf16}`");
  EXPECT_EQ(message_of(with("{x: f32}")),
            path + ": holds elements of 2 bytes (<V2), but `dtypes` says f32");
  EXPECT_EQ(message_of(with("{x: bf16, y: i32}")),
            points_one_ +
                ": holds f32, but `dtypes` says i32; it is for elements that NumPy does "
                "not know (V2, V1)");
  EXPECT_EQ(message_of(with("{z: bf16}")), "dtypes: there is no tensor \"z\" in files");
}

TEST_F(NpyTest, AllFilesHaveTheSameSamples) {
  const std::string two =
      write_file(folder_ / "two.npy", npy_header("|u1", "(2,)") + counting_bytes(2));
  EXPECT_EQ(error_of("{point: " + points_ + ", label: " + two + "}"),
            two + ": holds 2 samples, but " + points_ +
                " holds 3; all files must have the same first axis");
}

TEST_F(NpyTest, SaysWhichFileEndsEarlyOrGoesOn) {
  const std::string head = npy_header("<f4", "(3, 2)");
  const std::string cut = write_file(folder_ / "cut.npy", head + counting_bytes(23));
  EXPECT_EQ(error_of("{x: " + cut + "}"),
            cut + ": ends after 23 bytes of data; its header says f32[3, 2], which is 24");
  const std::string more = write_file(folder_ / "more.npy", head + counting_bytes(25));
  EXPECT_EQ(error_of("{x: " + more + "}"),
            more + ": goes on to 25 bytes of data; its header says f32[3, 2], which is 24");
}

TEST_F(NpyTest, TheLengthIsComparedBeforeAnythingRuns) {
  const StageContract& contract = types_.all()[0].contract;
  const auto planned = [&](const std::string& path) {
    const ParamTexts params{{"files", "{x: " + path + "}"}};
    return message_of(contract.outputs(make_params(contract, params)->get(), {},
                                       read_metadata(contract, params)));
  };
  const std::string claim = write_file(folder_ / "claim.npy",
                                       npy_header("|u1", "(6, 536870912, 4)") + counting_bytes(72));
  EXPECT_EQ(planned(claim), claim +
                                ": ends after 72 bytes of data; its header says u8[6, "
                                "536870912, 4], which is 12,884,901,888");
  EXPECT_EQ(planned(points_), "no error");
  const std::string packed =
      write_gzip(folder_ / "b.npy.gz", npy_header("|u1", "(2,)") + counting_bytes(2));
  EXPECT_EQ(planned(packed), packed + ": is gzipped, so it cannot be mapped; unpack it (gunzip)");
}

TEST_F(NpyTest, SaysWhichHeaderIsWrong) {
  const std::string objects = write_file(folder_ / "o.npy", npy_header("|O", "(3,)"));
  EXPECT_TRUE(error_of("{x: " + objects + "}").starts_with(objects + ": holds Python objects"));
  const std::string none = folder_ / "none";
  EXPECT_EQ(error_of("{x: " + none + "}"), none + ": its header could not be read");
  EXPECT_EQ(error_of("{}"), "no files are named; write `files: {image: images.npy}`");
}

TEST_F(NpyTest, GzippedArraysAreRefused) {
  const std::string packed =
      write_gzip(folder_ / "a.npy.gz", npy_header("|u1", "(2,)") + counting_bytes(2));
  EXPECT_EQ(error_of("{x: " + packed + "}"),
            packed + ": is gzipped, so it cannot be mapped; unpack it (gunzip)");
}

TEST_F(NpyTest, AFileThatChangedAfterTheCheckIsRefused) {
  auto producer = types_.all()[0].make_producer();
  const auto params =
      make_params(types_.all()[0].contract, {{"files", "{x: " + points_ + "}"}}).value();
  OpenContext context;
  context.params_data = params.get();
  context.params_type = types_.all()[0].contract.params_type;
  context.outputs = {{"x", f32, {5}}};
  EXPECT_EQ(producer->open(context).error().message,
            points_ + ": changed since the graph was checked: it now gives x f32[2]");
}

TEST_F(NpyTest, ItsContractCountsTheSamples) {
  const StageContract& contract = types_.all()[0].contract;
  const ParamTexts params{{"files", "{point: " + points_ + ", label: " + labels_ + "}"}};
  const auto parsed = make_params(contract, params).value();
  EXPECT_EQ(contract.samples(parsed.get(), read_metadata(contract, params)), 3u);
  EXPECT_EQ(contract.samples(parsed.get(), {}), std::nullopt);
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
