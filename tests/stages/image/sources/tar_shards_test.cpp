#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include <brigade/harness.h>
#include <brigade/skipped_inputs.h>
#include "stages/image/image_stages.h"
#include "tests/support/images/tar_files.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;

class TarShardsTest : public testing::Test {
 protected:
  TarShardsTest() {
    add_tar_shards(types_);
    first_ =
        folder_.write("s-0.tar", tar_member("cat_1.jpg", "JPEG") + tar_member("cat_1.cls", "3") +
                                     tar_member("cat_1.txt", "a cat") + tar_end());
    second_ = folder_.write("s-1.tar",
                            tar_member("dog_2.png", "PNG") + tar_member("dog_2.cls", "dog") +
                                tar_member("x.jpg", "x") + tar_member("y.cls", "1") + tar_end());
    shards_ = folder_.path() / "s-{0..1}.tar";
  }

  Result<std::unique_ptr<StageHarness>> open(ParamTexts params, OpenContext context = {}) {
    params.emplace_back("shards", shards_);
    return StageHarness::open(types_.all()[0], {params, {}, context});
  }
  /// Opened while its archives are whole, which are gone before the first is read.
  std::unique_ptr<StageHarness> open_then_lose(ParamTexts params) {
    auto stage = open(std::move(params)).value();
    std::filesystem::remove(first_);
    std::filesystem::remove(second_);
    return stage;
  }
  std::string error_of(ParamTexts params) { return message_of(open(std::move(params))); }
  static std::string text_of(const HostTensor& tensor) {
    return {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()};
  }
  static std::int64_t number_of(const HostTensor& tensor) { return tensor.as<std::int64_t>()[0]; }

  StageTypes types_;
  TemporaryFolder folder_;
  std::string first_, second_, shards_;
};

TEST_F(TarShardsTest, GivesPlacesLabelsKeysAndOtherMembers) {
  const auto stage = open({{"extra", "[txt]"}}).value();
  EXPECT_EQ(stage->outputs(), (Ports{{"file", u8, {up_to(4096)}},
                                     {"offset", i64, {}},
                                     {"size", i64, {}},
                                     {"key", u8, {up_to(256)}},
                                     {"label", i64, {}},
                                     {"txt", u8, {up_to(65536)}}}));
  EXPECT_EQ(*stage->producer().size(), 4u);
  const HarnessCall call = stage->read(0).value();
  EXPECT_EQ(text_of(call["file"]), first_);
  EXPECT_EQ(number_of(call["offset"]), 512);
  EXPECT_EQ(number_of(call["size"]), 4);
  EXPECT_EQ(text_of(call["key"]), "cat_1");
  EXPECT_EQ(number_of(call["label"]), 3);
  EXPECT_EQ(text_of(call["txt"]), "a cat");
  EXPECT_NE(stage->producer().fingerprint(), 0u);
}

TEST_F(TarShardsTest, SaysWhatItDropsAlsoOfAnIndexThatHoldsAndInItsContract) {
  folder_.write("s-1.tar", tar_member("b.image.jpg", "x") + tar_member("b.label.cls", "1") +
                               tar_member("c.image.jpg", "x") + tar_end());
  const std::vector<SkippedInputs> expected{
      {SkipReason::no_match, 2,
       "keys with neither image nor label; `image: [jpg, image.jpg]`, `label: cls;label.cls` reads "
       "1 of them"}};
  const std::string index = folder_.path() / "index";
  std::this_thread::sleep_for(std::chrono::milliseconds(60));  // what is older counts as unchanged
  for (int i = 0; i < 2; ++i) {
    const auto stage = open({{"index", index}}).value();
    EXPECT_EQ(*stage->producer().size(), 1u);
    EXPECT_EQ(dynamic_cast<const SkipsInputs&>(stage->producer()).skipped(), expected);
  }
  const StageContract& contract = types_.all()[0].contract;
  const ParamTexts texts{{"index", index}, {"shards", shards_}};
  EXPECT_EQ(
      contract.samples(make_params(contract, texts).value().get(), read_metadata(contract, texts)),
      SampleCount(1, expected));
}

TEST_F(TarShardsTest, NamesMembersThatNobodyReadsOnceAlsoOfAnIndexThatHolds) {
  folder_.write("s-1.tar", tar_member("b.jpg", "x") + tar_member("b.cls", "1") +
                               tar_member("b.JSON", "{}") + tar_member("b.txt", "x") +
                               tar_member("c.other.txt", "x") + tar_end());
  const std::string index = folder_.path() / "index";
  std::this_thread::sleep_for(std::chrono::milliseconds(60));  // what is older counts as unchanged
  const std::string said = "reads no .txt, .json of its keys; `extra: [txt, json]` gives bytes";
  const auto lines = [&](ParamTexts params, OpenContext context = {}) {
    std::vector<std::string> all = open(std::move(params), context).value()->reports.lines;
    std::erase_if(all, [](const std::string& line) { return line.starts_with("wrote the index"); });
    return all;
  };
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(lines({{"index", index}}), std::vector<std::string>{said}) << i;
  EXPECT_EQ(lines({{"extra", "[txt]"}}),
            std::vector<std::string>{"reads no .json of its keys; `extra: [json]` gives bytes"});
  EXPECT_EQ(lines({{"label", "cls;txt"}, {"extra", "[json]"}}), std::vector<std::string>{})
      << "all is asked for";
  OpenContext of_another;
  of_another.replica = 1;
  of_another.replicas = 2;
  EXPECT_EQ(lines({}, of_another), std::vector<std::string>{}) << "replica 0 says it";
  OpenContext again;
  again.again = true;
  EXPECT_EQ(lines({}, again), std::vector<std::string>{});
}

TEST_F(TarShardsTest, NamesSamplesByArchiveAndMember) {
  const auto stage = open({}).value();
  EXPECT_EQ(stage->producer().describe(0), "s-0.tar: cat_1.jpg");
  EXPECT_EQ(stage->producer().describe(1), "s-1.tar: dog_2.png");
  EXPECT_EQ(stage->producer().describe(3), "s-1.tar: y");
}

TEST_F(TarShardsTest, ReadingWhatLacksAPartIsTheError) {
  const auto stage = open({}).value();
  EXPECT_EQ(stage->read(1).error().message,
            second_ +
                ": dog_2.cls: expected a whole number, found \"dog\"; `labels: names` numbers "
                "names");
  EXPECT_EQ(stage->read(2).error().message,
            second_ + ": \"x\" has no label; expected x.cls (`label: none` wants none)");
  EXPECT_EQ(open({{"image", "[png, jpg]"}}).value()->read(3).error().message,
            second_ + ": \"y\" has no image; expected y.png or .jpg");
  const auto extra = open({{"extra", "[txt]"}, {"label", "none"}}).value();
  EXPECT_EQ(extra->outputs().find("label"), nullptr);
  EXPECT_EQ(extra->read(1).error().message, second_ + ": dog_2.txt: there is no such member");
  EXPECT_EQ(open({{"extra", "[txt]"}, {"extra_bytes", "4"}}).value()->read(0).error().message,
            first_ + ": cat_1.txt: has 5 bytes, but extra_bytes is 4");
  EXPECT_EQ(open({{"key_bytes", "3"}}).value()->read(0).error().message,
            "s-0.tar: cat_1.jpg: its key has 5 bytes, but key_bytes is 3");
}

TEST_F(TarShardsTest, LabelsThatAreNamesAreNumberedInTheirOrderOrByAFile) {
  first_ = folder_.write("s-0.tar", tar_member("a.jpg", "x") + tar_member("a.cls", "wolf") +
                                        tar_member("b.jpg", "x") + tar_member("b.cls", " cat\n") +
                                        tar_end());
  second_ = folder_.write("s-1.tar", tar_member("c.jpg", "x") + tar_member("c.cls", "dog") +
                                         tar_member("d.jpg", "x") + tar_member("d.cls", "wolf") +
                                         tar_end());
  const auto labels = [](StageHarness& stage, std::uint64_t count = 4) {
    std::vector<std::int64_t> all;
    for (std::uint64_t i = 0; i < count; ++i)
      all.push_back(number_of(stage.read(i).value()["label"]));
    return all;
  };
  const auto sorted = open({{"labels", "names"}}).value();
  EXPECT_EQ(labels(*sorted), (std::vector<std::int64_t>{2, 0, 1, 2}));
  const std::string file = folder_.write("classes.txt", "wolf\ndog\nfox\n");
  const std::string index = folder_.path() / "i";
  const auto named = open({{"classes", file}, {"index", index}}).value();
  EXPECT_EQ(number_of(named->read(0).value()["label"]), 0);
  EXPECT_EQ(number_of(named->read(2).value()["label"]), 1);
  EXPECT_EQ(named->read(1).error().message,
            first_ + ": b.cls: \"cat\" is none of the 3 classes in " + file);
  folder_.write("classes.txt", "cat\ndog\nfox\nwolf\n");
  EXPECT_EQ(labels(*open({{"classes", file}, {"index", index}}).value()),
            (std::vector<std::int64_t>{3, 0, 1, 3}))
      << "another file of classes makes another index";
  folder_.write("classes.txt", "cat\ndog\ncat\n");
  EXPECT_EQ(error_of({{"classes", file}}), file + ": line 3: \"cat\" is there already, in line 1");
}

TEST_F(TarShardsTest, NamesMayBeFieldsOfJson) {
  folder_.write("s-0.tar", tar_member("a.jpg", "x") + tar_member("a.json", R"({"l": "dog"})") +
                               tar_member("b.jpg", "x") + tar_member("b.json", R"({"l": 3})") +
                               tar_end());
  shards_ = first_;
  const auto stage = open({{"label", "json"}, {"label_field", "l"}, {"labels", "names"}}).value();
  EXPECT_EQ(number_of(stage->read(0).value()["label"]), 0);
  EXPECT_EQ(stage->read(1).error().message, first_ + ": b.json: has 3 as \"l\", expected a text");
  EXPECT_EQ(open({{"label", "json"}, {"label_field", "l"}}).value()->read(0).error().message,
            first_ +
                ": a.json: has \"dog\" as \"l\", expected a whole number; `labels: names` "
                "numbers names");
}

TEST_F(TarShardsTest, LabelsMayBeTextBesideJson) {
  folder_.write("s-0.tar", tar_member("a.jpg", "x") + tar_member("a.cls", "3") +
                               tar_member("b.jpg", "x") + tar_member("b.json", R"({"l": 4})") +
                               tar_member("c.jpg", "x") + tar_member("c.cls", "{}") + tar_end());
  shards_ = first_;
  const auto stage = open({{"label", "cls;json"}, {"label_field", "l"}}).value();
  EXPECT_EQ(number_of(stage->read(0).value()["label"]), 3);
  EXPECT_EQ(number_of(stage->read(1).value()["label"]), 4);
  EXPECT_EQ(
      stage->read(2).error().message,
      first_ + ": c.cls: expected a whole number, found \"{}\"; `labels: names` numbers names");
}

TEST_F(TarShardsTest, ALabelIsWrongForWhatTheScanSaw) {
  folder_.write("s-0.tar", tar_member("a.jpg", "x") +
                               tar_member("a.cls", std::string(700, ' ') + "a\001b") +
                               tar_member("b.jpg", "x") +
                               tar_member("b.cls", std::string(5000, 'c')) + tar_end());
  shards_ = first_;
  EXPECT_EQ(open({{"labels", "names"}}).value()->read(0).error().message,
            first_ + ": a.cls: expected the name of a class, found \"a\\x01b\"");
  EXPECT_EQ(
      open({{"labels", "names"}}).value()->read(1).error().message,
      first_ + ": b.cls: expected the name of a class, found 5,000 bytes; a name has at most 256");
  EXPECT_EQ(open({}).value()->read(0).error().message,
            first_ + ": a.cls: expected a whole number, found \"a\\x01b\"");
}

TEST_F(TarShardsTest, PackedArchivesAreRefusedByTheirNamesWithoutALook) {
  const StageContract& contract = types_.all()[0].contract;
  const ParamTexts texts{{"shards", "/x/train-{0..9}.tar.zst"}};
  EXPECT_EQ(message_of(contract.outputs(make_params(contract, texts)->get(), {}, {})),
            "/x/train-{0..9}.tar.zst: is compressed (zstd), so nothing in it can be addressed; "
            "unpack it once (`zstd -d FILE`), and name the .tar");
}

TEST_F(TarShardsTest, ExtensionsMayBeWrittenAsWebDatasetWritesThem) {
  folder_.write("s-0.tar", tar_member("a.image.jpg", "x") + tar_member("a.label.cls", "7") +
                               tar_member("b.jpg", "x") + tar_member("b.cls", "8") + tar_end());
  shards_ = first_;
  const auto stage = open({{"image", "[image.jpg;jpg]"}, {"label", "label.cls;cls"}}).value();
  EXPECT_EQ(number_of(stage->read(0).value()["label"]), 7);
  EXPECT_EQ(number_of(stage->read(1).value()["label"]), 8);
}

TEST_F(TarShardsTest, AnArchiveThatIsCutOffMeanwhileIsNamed) {
  const auto stage = open({{"extra", "[txt]"}}).value();
  std::filesystem::resize_file(first_, 1024);
  EXPECT_EQ(stage->read(0).error().message, first_ + ": cat_1.txt: the archive became shorter");
}

TEST_F(TarShardsTest, AnArchiveThatIsGoneMeanwhileIsNamed) {
  const auto stage = open_then_lose({{"extra", "[txt]"}});
  EXPECT_EQ(stage->read(0).error().message, first_ + ": cannot open: No such file or directory");
  EXPECT_EQ(stage->read(1).error().message,
            second_ + ": dog_2.cls: cannot open: No such file or directory");
}

TEST_F(TarShardsTest, FieldsOfJsonHaveTheirErrors) {
  const std::string deep =
      "{\"label\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  folder_.write("s-1.tar", tar_member("a.jpg", "x") + tar_member("a.json", "{}") +
                               tar_member("b.jpg", "x") + tar_member("b.json", deep) +
                               tar_member("c.jpg", "x") + tar_member("c.json", "{\"label\": 3}") +
                               tar_end());
  const auto stage = open({{"label", "json"}, {"label_field", "label"}}).value();
  EXPECT_EQ(stage->read(2).error().message, second_ + ": b.json: is nested deeper than 100 levels");
  EXPECT_EQ(number_of(stage->read(3).value()["label"]), 3) << "the others are as they were";
  EXPECT_EQ(stage->read(1).error().message, second_ + ": a.json: has no field \"label\"");
}

TEST_F(TarShardsTest, ParametersThatContradictEachOther) {
  EXPECT_EQ(error_of({{"label", "json"}}),
            "the label of a JSON member is one of its fields; which? such as `label_field: label`");
  EXPECT_EQ(error_of({{"label", "none"}, {"label_field", "x"}}),
            "with `label: none`, label_field has no effect; leave it out");
  EXPECT_EQ(error_of({{"label", "none"}, {"labels", "names"}}),
            "with `label: none`, labels and classes have no effect; leave them out");
  EXPECT_EQ(error_of({{"image", "[]"}}),
            "image is a list of extensions such as [jpg, png], found none");
  EXPECT_EQ(error_of({{"label_field", "x"}}),
            "label_field is a field of JSON, and no extension in `label: cls` ends in json; leave "
            "it out, or say `label: json`");
  for (const std::string text : {";", "cls;", ";cls", ".", "cls; ;txt"})
    EXPECT_EQ(error_of({{"label", text}}),
              concat("label: an extension is empty in \"", text, "\"; expected such as jpg;png"));
  EXPECT_EQ(error_of({{"image", "[jpg;]"}}),
            "image: an extension is empty in \"jpg;\"; expected such as jpg;png");
  EXPECT_EQ(error_of({{"label", "none;cls"}}),
            "label: `none` stands alone: no labels; found \"none;cls\"");
  EXPECT_EQ(open({{"label", ""}}).value()->outputs().find("label"), nullptr);
  EXPECT_EQ(error_of({{"extra", "[key]"}}), "extra: \"key\" would be a second tensor \"key\"");
  EXPECT_EQ(open({{"extra", "[.seg.png]"}}).value()->outputs().tensors.back().name, "seg_png");
}

TEST_F(TarShardsTest, TheIndexIsKeptAndARestartKeepsItsNumbers) {
  const std::string file = folder_.path() / "shards.index";
  const ParamTexts params{{"index", file}};
  const auto before = open(params).value()->producer().fingerprint();
  ASSERT_TRUE(std::filesystem::exists(file));
  folder_.write("s-0.tar", tar_member("new.jpg", "x") + tar_member("new.cls", "9") + tar_end());
  OpenContext again;
  again.again = true;
  EXPECT_EQ(open(params, again).value()->producer().fingerprint(), before);
  EXPECT_NE(open(params).value()->producer().fingerprint(), before);
}

TEST_F(TarShardsTest, ItsContractCountsByAnIndexThatStillHolds) {
  namespace fs = std::filesystem;
  const auto then = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const std::string& shard : {first_, second_}) fs::last_write_time(shard, then);
  const StageContract& contract = types_.all()[0].contract;
  const auto samples = [&](const std::string& shards) {
    const ParamTexts texts{{"index", folder_.path() / "i"}, {"shards", shards}};
    const auto params = make_params(contract, texts).value();
    return contract.samples(params.get(), read_metadata(contract, texts));
  };
  EXPECT_EQ(samples(shards_), std::nullopt) << "there is none yet";
  open({{"index", folder_.path() / "i"}}).value();
  EXPECT_EQ(samples(shards_), 4u);
  EXPECT_EQ(samples("[" + first_ + ", " + second_ + "]"), 4u);
  EXPECT_EQ(samples(first_), std::nullopt) << "it is of two";
  EXPECT_EQ(samples(folder_.path() / "s-*.tar"), std::nullopt) << "who knows what is there now";
  folder_.write("s-0.tar", tar_end());
  EXPECT_EQ(samples(shards_), std::nullopt);
}

TEST_F(TarShardsTest, ARestartKeepsTheArchivesThatAWildcardFound) {
  shards_ = folder_.path() / "s-*.tar";
  const ParamTexts params{{"index", (folder_.path() / "i").string()}};
  EXPECT_EQ(*open(params).value()->producer().size(), 4u);
  folder_.write("s-00.tar", tar_member("new.jpg", "x") + tar_member("new.cls", "9") + tar_end());
  OpenContext again;
  again.again = true;
  const auto stage = open(params, again).value();
  EXPECT_EQ(*stage->producer().size(), 4u);
  EXPECT_EQ(stage->producer().describe(1), "s-1.tar: dog_2.png");
  EXPECT_EQ(*open(params).value()->producer().size(), 5u);
}

TEST_F(TarShardsTest, ManyArchivesNeedFewDescriptors) {
  for (int i = 0; i < 100; ++i)
    folder_.write("m-" + std::to_string(i) + ".tar",
                  tar_member("a.jpg", "x") + tar_member("a.cls", std::to_string(i)) +
                      tar_member("a.txt", std::to_string(i)) + tar_end());
  shards_ = folder_.path() / "m-{0..99}.tar";
  const auto stage = open({{"extra", "[txt]"}}).value();
  const auto fds = [] {
    const auto all = std::filesystem::directory_iterator("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto before = fds();
  for (std::uint64_t i = 0; i < 200; ++i)
    EXPECT_EQ(text_of(stage->read(i * 7 % 100).value()["txt"]), std::to_string(i * 7 % 100));
  EXPECT_EQ(fds() - before, 64);
}

}  // namespace
}  // namespace brigade
