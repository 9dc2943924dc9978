// What people read is true: the table of keys in docs/LANGUAGE.md is the one of the program, word
// for word (UPDATE_GOLDEN=1 rewrites it), and every ```yaml block of README.md and docs/ is sound.
// A block that says ```yaml fragment is a part of a graph: it is laid over a standard one, whose
// stages it may name or change.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "pipeline/config/key_table.h"
#include "pipeline/config/yaml_reader.h"
#include "stages/builtin.h"
#include "tests/support/config_files.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path kRoot = BRIGADE_SOURCE_DIR;

// --- the table of keys

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string users_cell(const KeySpec& key) {
  if (key.scope != KeyScope::stage || key.users == kAllStages) return "";
  if (key.users == kIndexedProducers) return " Of producers that read by index, and caches.";
  std::vector<std::string> names;
  if (key.users & kProducers) names.emplace_back("producers");
  if (key.users & kTransforms) names.emplace_back("transforms");
  if (key.users & kConsumers) names.emplace_back("consumers");
  return concat(" Of ", join(names, ", ", " and "), ".");
}

std::string capital(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 32);
  return out;
}

std::string key_rows(KeyScope scope) {
  std::string text = "| key | takes | unit | default | what |\n|---|---|---|---|---|\n";
  for (const KeySpec& key : key_table()) {
    if (key.scope != scope) continue;
    text += concat("| `", key.name, "` | ", cell(key_takes(key)), " | ", key.unit, " | ",
                   cell(key.default_value), " | ", cell(capital(key.help)), ".", users_cell(key),
                   key.built ? "" : " *Not built yet.*", " |\n");
  }
  return text;
}

std::string value_rows() {
  std::string text = "| value | what |\n|---|---|\n";
  for (const ValueSpec& value : value_table()) {
    const KeySpec& key = *find_key(value.scope, value.key);
    text += concat("| `", key_path(key), ": ", value.value, "` | ", cell(capital(value.help)), ".",
                   value.built ? "" : " *Not built yet.*", " |\n");
  }
  return text;
}

std::string table_of_keys() {
  const std::pair<KeyScope, const char*> parts[] = {
      {KeyScope::top, "At the top level"},  {KeyScope::stage, "Of a stage"},
      {KeyScope::source, "Of a source"},    {KeyScope::on_error, "In `on_error:`"},
      {KeyScope::restart, "In `restart:`"}, {KeyScope::checkpoint, "In `checkpoint:`"},
      {KeyScope::shard, "In `shard:`"},     {KeyScope::stall, "In `stall_timeout:`"},
  };
  static_assert(std::size(parts) == kKeyScopes);
  std::string text = "\n";
  for (const auto& [scope, title] : parts)
    text += concat("### ", title, "\n\n", key_rows(scope), "\n");
  return concat(text, "### Values with names\n\n", value_rows(), "\n");
}

struct Parts {
  std::string before, generated, after;
};

Parts language_page() {
  const std::string text = file_text(kRoot / "docs" / "LANGUAGE.md");
  const std::size_t mark = text.find("<!-- keys:");
  const std::size_t from = text.find('\n', mark) + 1;
  const std::size_t to = text.find("<!-- end of keys -->");
  EXPECT_TRUE(mark != text.npos && to != text.npos && from <= to);
  return {text.substr(0, from), text.substr(from, to - from), text.substr(to)};
}

TEST(LanguagePage, HasTheTableOfKeysWordForWord) {
  const Parts page = language_page();
  const char* update = std::getenv("UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(kRoot / "docs" / "LANGUAGE.md", std::ios::binary)
        << page.before << table_of_keys() << page.after;
    return;
  }
  EXPECT_EQ(page.generated, table_of_keys()) << "docs/LANGUAGE.md; UPDATE_GOLDEN=1 rewrites it";
}

// A key that is built is explained in words as well.
TEST(LanguagePage, ExplainsEveryKeyThatIsBuilt) {
  const std::string text = language_page().before;
  for (const KeySpec& key : key_table()) {
    if (!key.built) continue;
    EXPECT_THAT(text, HasSubstr(concat(key.name, ":"))) << key.name;
  }
}

// --- the blocks

struct Block {
  std::string where;  // "docs/LANGUAGE.md:12"
  bool fragment = false;
  std::string text;
};

std::vector<Block> blocks_of(const std::string& name, const std::string& page) {
  std::vector<Block> blocks;
  bool inside = false;
  int number = 0;
  for (const std::string_view line : split(page, '\n')) {
    ++number;
    if (inside && trim(line) == "```") {
      inside = false;
    } else if (inside) {
      blocks.back().text += concat(line, "\n");
    } else if (const auto words = strip_prefix(line, "```yaml")) {
      EXPECT_TRUE(trim(*words).empty() || trim(*words) == "fragment") << name << ": " << line;
      blocks.push_back({concat(name, ":", number), trim(*words) == "fragment", ""});
      inside = true;
    }
  }
  return blocks;
}

std::vector<Block> all_blocks() {
  std::vector<std::string> names = {"README.md"};
  for (const auto& entry : fs::directory_iterator(kRoot / "docs"))
    if (entry.path().extension() == ".md")
      names.push_back("docs/" + entry.path().filename().string());
  std::sort(names.begin(), names.end());
  std::vector<Block> blocks;
  for (const std::string& name : names)
    for (Block& block : blocks_of(name, file_text(kRoot / name)))
      blocks.push_back(std::move(block));
  return blocks;
}

const std::pair<const char*, const char*> kFrame[] = {
    {"images",
     "{producer: idx_images, batch: 64, params: {images: DATA/train-images-idx3-ubyte.gz, labels: "
     "DATA/train-labels-idx1-ubyte.gz}}"},
    {"test_images",
     "{producer: idx_images, batch: 64, params: {images: DATA/t10k-images-idx3-ubyte.gz, "
     "labels: DATA/t10k-labels-idx1-ubyte.gz}}"},
    {"augment", "{transform: augment_image, from: images, params: {flip: 0.5}, batch: 64}"},
};

// The stages of the frame that the fragment does not define itself, and a reader for each stage.
std::string frame_for(const YamlNode& fragment) {
  std::string text = "stages:\n";
  const auto reader = [&text](std::string_view stage) {
    text += concat("  end-of-", stage, ": {consumer: count, from: ", stage, "}\n");
  };
  const YamlEntry* stages = fragment.find("stages");
  const auto own = [&](std::string_view name) {
    const YamlEntry* stage = stages == nullptr ? nullptr : stages->value.find(name);
    return stage != nullptr && (stage->value.find("producer") || stage->value.find("transform"));
  };
  for (const auto& [name, yaml] : kFrame) {
    if (own(name)) continue;
    std::string line = concat("  ", name, ": ", yaml, "\n");
    for (std::size_t at = line.find("DATA"); at != line.npos; at = line.find("DATA"))
      line.replace(at, 4, "/usr/share/datasets/fashion-mnist");
    text += line;
    reader(name);
  }
  if (stages == nullptr) return text;
  for (const YamlEntry& stage : stages->value.entries)
    if (own(stage.key)) reader(stage.key);
  return text;
}

LoadedGraph load_block(const Block& block, const StageTypes& types) {
  const std::string folder = config_folder().string();
  if (!block.fragment) return load_texts({{block.where, block.text, folder}}, types);
  SourceText source;
  Diagnostics ignored;
  const int file = source.add({block.where, block.text, folder});
  const auto tree = read_yaml(source, file, ignored);
  const std::string frame = frame_for(tree ? *tree : YamlNode::map());
  return load_texts({{"frame", frame, folder}, {block.where, block.text, folder}}, types);
}

TEST(YamlBlocks, AreSound) {
  const StageTypes types = builtin_stage_types();
  const auto blocks = all_blocks();
  for (const Block& block : blocks) {
    const auto loaded = load_block(block, types);
    EXPECT_EQ(loaded.messages(), "") << block.where << "\n" << block.text;
  }
  EXPECT_GE(blocks.size(), 10u);
}

TEST(YamlBlocks, AMistakeInOneIsSeen) {
  const StageTypes types = builtin_stage_types();
  for (const auto& [text, expected] :
       {std::pair{"stages: {augment: {replicsa: 2}}\n", "replicas"},
        std::pair{"stages: {more: {consumer: count, from: imagse}}\n", "images"},
        std::pair{"epoch: 3\n", "epochs"}}) {
    EXPECT_THAT(load_block({"x", true, text}, types).messages(), HasSubstr(expected));
    EXPECT_NE(load_block({"x", false, text}, types).messages(), "");
  }
}

TEST(YamlBlocks, TheReadmeShowsTheGraphOfTheDemo) {
  const auto blocks = blocks_of("README.md", file_text(kRoot / "README.md"));
  ASSERT_FALSE(blocks.empty());
  EXPECT_EQ(blocks[0].text, file_text(config_folder() / "fashion_mnist.yaml"));
}

}  // namespace
}  // namespace brigade
