// Sessions with one stage, word for word: tests/golden/stages. `=== NAME` begins anew in an empty
// folder, which is called FOLDER.
//
//   file NAME TEXT            a file; \n, \t, \x00, and \{300:ab} for ab 300 times
//   tar NAME MEMBER=TEXT | [type=x, size=00000000003] MEMBER=TEXT | end | +TEXT    and its end
//   parts NAME ...            the same without the end of an archive
//   cut NAME BYTES            leaves so many of a file; `damage NAME AT TEXT` writes over them
//   npy NAME TYPE SHAPE : TEXT        as numpy.save writes it: <f4 (3, 2)
//   idx NAME CODE SIZE SIZE : TEXT
//   dictionary NAME VERSION TEXT      a header of that version, with any text in it
//   gzip NAME                 packs a file
//   cache NAME | NAME not complete | NAME too many | NAME made of TEXT
//   plan TYPE: PARAM=VALUE | PARAM=VALUE <- image u8[4, 6, 1] | label i64[]    the contract alone
//   open TYPE: ...            the stage, too; equal letters behind `data` are equal fingerprints
//   read INDEX INDEX          of a source
//   look NAME                 what `brigade init` sees in data
//   guess TEXT                and in the first lines of a table
//   braces PATTERN PATTERN    the files they stand for
//   elsewhere NAME NAME       operations and stages that other libraries call so
//   walk NAME                 of an archive: MEMBER@OFFSET+SIZE, and MEMBER! of what is no file
//   head NAME                 of an .npy file
//   key NAME NAME             KEY|EXTENSION of members; `label TEXT | TEXT` what theirs is
//   order image f32[3, 4, 1] SAID     how the channels of pictures lie
//   call image u8[2] 1 2 | label i64[] 7      one sample; 0..23 are these numbers, 9*40 forty times
//   9

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include <brigade/harness.h>
#include <brigade/labels.h>
#include <brigade/skipped_inputs.h>
#include "stages/api/channel_order.h"
#include "stages/api/file_patterns.h"
#include "stages/api/npy_header.h"
#include "stages/api/other_names.h"
#include "stages/basic/half_float.h"
#include "stages/builtin.h"
#include "stages/image/guess/data_folder.h"
#include "stages/image/guess/data_table.h"
#include "stages/image/index/tar_index.h"
#include "stages/image/index/tar_walk.h"
#include "tests/stages/session_files.h"
#include "tests/support/config/golden_cases.h"
#include "tests/support/file_text.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/word_for_word.h"

namespace brigade {
namespace {

using namespace testing_support;

TensorType tensor_type(std::string_view text) {
  const auto [name, rest] = parted(text, " ");
  const auto [dtype, sizes] = parted(rest, "[");
  TensorType out{name, parse_dtype(dtype).value(), {}};
  for (const std::string& size : pieces(sizes.substr(0, sizes.size() - 1), ", ")) {
    const auto most = strip_prefix(size, "<=");
    out.shape.push_back(most ? up_to(std::stoll(std::string(*most))) : Dim(std::stoll(size)));
  }
  return out;
}

template <class T>
HostTensor tensor_of(const TensorType& type, const std::string& values) {
  std::vector<T> elements;
  for (const std::string& value : pieces(values, " ")) {
    const auto [first, last] = parted(value, "..");
    const auto [number, count] = parted(first, "*");
    elements.insert(elements.end(), std::stoul(count.empty() ? "1" : count),
                    static_cast<T>(std::stod(number)));
    while (!last.empty() && elements.back() < static_cast<T>(std::stod(last)))
      elements.push_back(static_cast<T>(elements.back() + 1));
  }
  return host_tensor(type.name, type.bounds(), elements);
}

HostTensor tensor(const std::string& text) {
  const auto [type_text, values] = parted(text, "] ");
  const TensorType type = tensor_type(type_text + (type_text.ends_with("]") ? "" : "]"));
  if (type.dtype == u8) return tensor_of<std::uint8_t>(type, values);
  if (type.dtype == i64) return tensor_of<std::int64_t>(type, values);
  return tensor_of<float>(type, values);
}

double number(Half value) { return to_float(value); }
double number(BFloat16 value) { return to_float(value); }
template <class T>
T number(T value) {
  return value;
}

template <class T>
std::string numbers(const HostTensor& tensor) {
  constexpr std::size_t kShown = 24;
  std::string out;
  const std::vector<T> all = tensor.as<T>();
  for (std::size_t i = 0; i < std::min(all.size(), kShown); ++i)
    out += concat(" ", number(T(all[i])));
  return out + (all.size() > kShown ? " ..." : "");
}

std::string values_of(const HostTensor& tensor) {
  switch (tensor.dtype) {
    case DType::boolean:
      return numbers<bool>(tensor);
    case DType::u8:
      return numbers<std::uint8_t>(tensor);
    case DType::i8:
      return numbers<std::int8_t>(tensor);
    case DType::i16:
      return numbers<std::int16_t>(tensor);
    case DType::i32:
      return numbers<std::int32_t>(tensor);
    case DType::i64:
      return numbers<std::int64_t>(tensor);
    case DType::f16:
      return numbers<Half>(tensor);
    case DType::bf16:
      return numbers<BFloat16>(tensor);
    case DType::f32:
      return numbers<float>(tensor);
    case DType::f64:
      return numbers<double>(tensor);
  }
  return {};
}

/// Bytes that are a text as a text.
std::string shown(const HostTensor& tensor) {
  const std::string type = concat(tensor.name, " ", dtype_name(tensor.dtype));
  if (tensor.dtype == u8 && tensor.shape.rank() == 1) {
    const auto* const first = reinterpret_cast<const char*>(tensor.bytes.data());
    const std::string_view text(first, tensor.bytes.size());
    if (std::all_of(text.begin(), text.end(), [](char at) { return at >= ' ' && at <= '~'; }))
      return concat(type, " \"", text, "\"");
  }
  return concat(type, shape_text(tensor.shape), values_of(tensor));
}

std::string shown(const Result<HarnessCall>& call) {
  if (!call) return concat("error: ", call.error().message, "\n");
  if (call->next == Next::drop) return "drop\n";
  if (call->next == Next::wait) return "wait\n";
  if (call->next == Next::end) return "end\n";
  std::string out;
  for (const HostTensor& output : call->outputs) out += concat(shown(output), "\n");
  return out.empty() ? "nothing\n" : out;
}

std::string shown(const Ports& ports) {
  std::string out;
  for (const TensorType& type : ports.tensors) out += (out.empty() ? "" : ", ") + type.text();
  return (out.empty() ? "no tensors" : out) + "\n";
}

std::string shown(const std::vector<SkippedInputs>& skipped) {
  std::string out;
  for (const SkippedInputs& kind : skipped) out += concat(", without ", kind.count, " ", kind.text);
  return out;
}

using Words = std::vector<std::pair<const char*, std::string>>;

/// Those that are there.
std::string shown(const Words& words) {
  std::string out;
  for (const auto& [name, value] : words)
    if (!value.empty()) out += concat(name, ": ", value, "\n");
  return out;
}

std::string shown(const Result<FoundData>& data) {
  if (!data) return concat("error: ", data.error().message, "\n");
  const char* const kinds[] = {"nothing", "idx", "classes", "shards", "list", "numbers"};
  return shown(Words{{"kind", kinds[static_cast<int>(data->kind)]},
                     {"folder", data->folder},
                     {"images", data->images},
                     {"test_images", data->test_images},
                     {"labels", data->labels},
                     {"test_labels", data->test_labels},
                     {"table", data->table},
                     {"root", data->root},
                     {"train", data->train},
                     {"test", data->test},
                     {"classes", join(data->classes, " ")},
                     {"image", data->image},
                     {"label", data->label + (data->label_is_name ? " (a name)" : "")},
                     {"label_field", data->label_field},
                     {"features", join(data->features, " ")},
                     {"separator", data->separator == "," ? "" : data->separator},
                     {"header", data->header ? "" : "none"},
                     {"remark", data->remark}});
}

std::string order(const std::string& text) {
  const auto [type, said] = parted(text, "] ");
  const auto sizes = picture_sizes(tensor_type(said.empty() ? type : type + "]"),
                                   said == "CHW"   ? ChannelOrder::chw
                                   : said == "HWC" ? ChannelOrder::hwc
                                                   : ChannelOrder::guess);
  if (!sizes) return concat("error: ", sizes.error().message, "\n");
  return concat(sizes->order == ChannelOrder::chw ? "CHW" : "HWC", " of ", sizes->height, " x ",
                sizes->width, " x ", sizes->channels, "\n");
}

/// Until its end or the first error.
std::string walked(std::string_view archive) {
  TarWalk walk(
      [archive](std::uint64_t offset, std::size_t size) -> Result<std::string_view> {
        return archive.substr(std::min<std::size_t>(offset, archive.size()), size);
      },
      archive.size());
  std::string out;
  for (TarMember member;;) {
    const auto more = walk.next(member);
    if (!more) return concat(out, "error: ", more.error().message, "\n");
    if (!*more) return out + "end\n";
    out += concat(member.name, member.is_file ? concat("@", member.offset, "+", member.size) : "!",
                  "\n");
  }
}

std::string npy_head_of(const std::string& file) {
  const auto header = parse_npy_header("FILE", file);
  if (!header) return concat("error: ", header.error().message, "\n");
  return concat(dtype_name(header->dtype), shape_text(header->shape), ", ", header->bytes,
                " bytes before ", header->sample_bytes, " of each sample\n");
}

std::string shown(const std::optional<TableGuess>& table) {
  if (!table) return "no table\n";
  return shown(Words{{"separator", quote(table->separator)},
                     {"header", table->header ? "there" : "none"},
                     {"image", table->image},
                     {"label", table->label + (table->label_is_name ? " (a name)" : "")},
                     {"numbers", join(table->numbers, " ")}});
}

class Session {
 public:
  std::string answer(std::string_view line) {
    const auto [verb, rest] = parted(replaced(std::string(line), "FOLDER", folder_.path()), " ");
    std::string out;
    if (verb == "plan" || verb == "open") {
      out = open(rest, verb == "open");
    } else if (verb == "read") {
      for (const std::string& index : pieces(rest, " ")) out += read(std::stoull(index));
    } else if (verb == "look") {
      out = shown(look_at_data(folder_ / rest));
    } else if (verb == "guess") {
      out = shown(guess_table(unescaped(rest)));
    } else if (verb == "braces") {
      const auto files = expand_all_braces(pieces(rest, " "));
      out =
          files ? concat(join(*files, " "), "\n") : concat("error: ", files.error().message, "\n");
    } else if (verb == "elsewhere") {
      for (const std::string& name : pieces(rest, " "))
        out += concat(operation_elsewhere(name).value_or("no operation"), "; ",
                      stage_elsewhere(name).value_or("no stage"), "\n");
    } else if (verb == "walk") {
      out = walked(file_text(folder_.path() / rest));
    } else if (verb == "head") {
      out = npy_head_of(file_text(folder_.path() / rest));
    } else if (verb == "key") {
      for (const std::string& name : pieces(rest, " "))
        out += concat(split_tar_name(name).key, "|", split_tar_name(name).extension, "\n");
    } else if (verb == "label") {
      for (const std::string& text : pieces(rest)) {
        const auto label = parse_label(unescaped(text));
        out += label ? concat(*label, "\n") : concat("error: ", label.error().message, "\n");
      }
    } else if (verb == "order") {
      out = order(rest);
    } else if (verb == "call") {
      std::vector<HostTensor> sample;
      for (const std::string& text : pieces(rest)) sample.push_back(tensor(text));
      out = shown(stage_->process(std::move(sample)));
    } else if (!write_file(folder_, verb, parted(rest, " ").first, parted(rest, " ").second)) {
      out = unknown_command(line);
    }
    out = replaced(out, std::filesystem::canonical(folder_.path()), "FOLDER");
    return replaced(out, folder_.path(), "FOLDER");
  }

 private:
  std::string open(const std::string& text, bool with_stage) {
    const auto [said, from] = parted(text, " <- ");
    const auto [name, params_text] = parted(said, ": ");
    ParamTexts params;
    for (const std::string& param : pieces(params_text)) {
      const auto [key, value] = parted(param, "=");
      params.emplace_back(key, unescaped(value));
    }
    Ports inputs;
    for (const std::string& input : pieces(from)) inputs.tensors.push_back(tensor_type(input));
    const StageType& type = *types_.find(name);
    const auto made = make_params(type.contract, params);
    if (!made) return concat("error: ", made.error().message, "\n");
    const FileMetadata metadata = read_metadata(type.contract, params);
    std::string out;
    if (with_stage) {
      auto stage = StageHarness::open(type, {params, inputs, {}});
      if (!stage) return concat("error: ", stage.error().message, "\n");
      stage_ = std::move(*stage);
      out = shown(stage_->outputs());
      if (type.indexed) out += source();
      for (const std::string& line : stage_->reports.lines) out += line + "\n";
    } else {
      const auto outputs = type.contract.outputs(made->get(), inputs, metadata);
      if (!outputs) return concat("error: ", outputs.error().message, "\n");
      out = shown(*outputs);
      if (const auto& most = type.contract.private_bytes)
        out += concat("at most ", most(made->get()), " bytes of its own\n");
    }
    if (!type.contract.samples) return out;
    const auto counted = [&](const FileMetadata& files) {
      const auto count = type.contract.samples(made->get(), files);
      return count ? concat(count->samples, shown(count->skipped)) : "none";
    };
    return out + concat("the check counts ", counted(metadata), "; ", counted({}),
                        " without a look at files\n");
  }

  std::string source() {
    Producer& producer = stage_->producer();
    const std::uint64_t print = producer.fingerprint();
    const auto seen = prints_.emplace(print, static_cast<char>('A' + prints_.size())).first;
    const auto* const skips = dynamic_cast<const SkipsInputs*>(&producer);
    std::string out =
        concat(producer.size().value(), " samples", skips == nullptr ? "" : shown(skips->skipped()),
               ", data ", print == 0 ? '?' : seen->second, "\n");
    auto* const labels = dynamic_cast<TellsLabels*>(&producer);
    if (labels == nullptr) return out;
    std::string told;
    for (std::uint64_t i = 0; i < std::min(producer.size().value(), std::uint64_t{8}); ++i) {
      const auto label = labels->label_of(i);
      told += label ? concat(" ", *label) : " ?";
    }
    if (told.find_first_not_of(" ?") == told.npos) return out;
    const auto names = labels->label_names();
    return out + concat("labels", told, names.empty() ? "" : " of ", join(names, ", "), "\n");
  }
  std::string read(std::uint64_t index) {
    return concat(stage_->producer().describe(index), "\n", shown(stage_->read(index)));
  }

  TemporaryFolder folder_;
  const StageTypes types_ = builtin_stage_types();
  std::unique_ptr<StageHarness> stage_;
  std::map<std::uint64_t, char> prints_;
};

class Sessions : public testing::TestWithParam<std::string> {};

TEST_P(Sessions, AnswerWordForWord) {
  expect_session<Session>(concat("stages/", GetParam(), ".txt"));
}

INSTANTIATE_TEST_SUITE_P(Files, Sessions, testing::ValuesIn(golden_files("stages")),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace brigade
