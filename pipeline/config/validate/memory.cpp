#include <algorithm>

#include "pipeline/config/validate/draft.h"

namespace brigade {
namespace {

using NamesOf = std::function<std::vector<std::string>(const void* params)>;

std::vector<std::string> names_of(const NamesOf& names, const Draft& draft) {
  return names && draft.has_params ? names(draft.stage.params.get()) : std::vector<std::string>{};
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string visible_gpus(const Draft& draft) {
  for (const auto& [name, value] : draft.stage.env)
    if (name == "CUDA_VISIBLE_DEVICES") return value;
  return "";
}

/// One edge of `memory: device`, from its writer to its reader. Says the first thing that is wrong.
class DeviceEdge {
 public:
  DeviceEdge(Validation& validation, Draft& writer)
      : v(validation), writer_(writer), at_(*writer.spec->given("memory")) {}

  void check() {
    if (!check_writer() || !check_tensors() || writer_.readers.empty()) return;
    if (writer_.readers.size() > 1)
      return refuse("`memory: device` needs exactly one reader, found ",
                    concat(writer_.readers.size(), " readers"),
                    "insert a stage before them that copies the tensors back to host memory "
                    "(`transform: from_device`)");
    check_reader(v.at(writer_.readers.front()));
  }

 private:
  void refuse(std::string_view message, std::string_view found, std::string help) {
    v.error(writer_, at_, concat(message, found), {std::move(help)});
  }

  bool one_replica(Draft& draft) {
    if (draft.stage.replicas == 0) draft.stage.replicas = 1;  // auto
    if (draft.stage.replicas == 1) return true;
    refuse("`memory: device` needs one replica on both sides, found ",
           concat(draft.stage.replicas, " of ", quote(draft.stage.name)), "omit `replicas:` there");
    return false;
  }

  bool check_writer() {
    const StageContract& contract = writer_.stage.type->contract;
    if (!contract.writes_on_device) {
      refuse("`memory: device` needs a type that writes in device memory, but ",
             concat(quote(contract.type), " writes in host memory"),
             "use `transform: to_device` downstream of this stage");
      return false;
    }
    if (writer_.stage.device == "cpu") {
      refuse("`memory: device` needs a device, but this stage runs on the ", "CPU",
             "write `device: cuda`, or omit `memory:`");
      return false;
    }
    if (!writer_.stage.batched || contract.numbering != Numbering::one_to_one) {
      refuse("`memory: device` needs batches, ", "but this stage outputs single samples",
             "write `batch:` at the stage upstream");
      return false;
    }
    return one_replica(writer_);
  }

  bool check_tensors() {
    for (const TensorType& tensor : writer_.stage.outputs.tensors) {
      if (!tensor.on_device || !tensor.ragged()) continue;
      refuse("`memory: device` needs tensors of a fixed size, found ", tensor.text(),
             "crop or resize all samples to one size upstream");
      return false;
    }
    return true;
  }

  void check_reader(Draft& reader) {
    if (!reader.has_type || !reader.has_params) return;
    const auto reads = names_of(reader.stage.type->contract.reads_on_device, reader);
    for (const ValidSource& source : reader.stage.sources)
      for (const TensorType& tensor : source.tensors.tensors)
        if (tensor.on_device && !contains(reads, tensor.name)) return refuse_reader(reader, tensor);
    const bool by_one = reader.stage.join == Join::single || reader.stage.join == Join::epochs;
    if (!by_one || !reader.stage.batched)
      return refuse(
          "`memory: device` needs a reader that takes batches of one source at a time, found ",
          quote(reader.stage.name),
          "copy the tensors back to host memory with `transform: from_device` first");
    if (!one_replica(reader)) return;
    if (reader.stage.device != writer_.stage.device ||
        visible_gpus(reader) != visible_gpus(writer_))
      refuse("`memory: device` needs one device on both sides, found ",
             concat("`device: ", writer_.stage.device, "` here and `device: ", reader.stage.device,
                    "` at ", quote(reader.stage.name),
                    reader.stage.device == writer_.stage.device
                        ? ", with different CUDA_VISIBLE_DEVICES in `env:`"
                        : ""),
             "use the same device in both");
  }

  void refuse_reader(const Draft& reader, const TensorType& tensor) {
    refuse(
        concat(quote(reader.stage.name), " (", quote(reader.stage.type->contract.type), ") reads "),
        concat(quote(tensor.name),
               " from host memory, but `memory: device` keeps it on the device"),
        "omit `memory:`, or copy it back with `transform: from_device` first");
  }

  Validation& v;
  Draft& writer_;
  const Span& at_;
};

}  // namespace

void place_on_device(Draft& draft) {
  const auto names = draft.stage.device_memory
                         ? names_of(draft.stage.type->contract.writes_on_device, draft)
                         : std::vector<std::string>{};
  for (TensorType& tensor : draft.stage.outputs.tensors)
    tensor.on_device = contains(names, tensor.name);
}

void validate_device_memory(Validation& v) {
  for (Draft& draft : v.drafts) {
    const bool transform = draft.stage.kind == StageKind::transform;  // others may not have the key
    if (draft.stage.device_memory && transform && draft.has_outputs) DeviceEdge(v, draft).check();
  }
}

namespace {

/// Pages of ragged tensors come and go with what the samples hold, and huge ones are reserved.
void check_hugepages(Validation& v, const Draft& draft) {
  const Span& at = *draft.spec->given("hugepages");
  if (draft.has_type && draft.stage.type->contract.cache)
    return v.error(draft, at, "`hugepages: true` applies to buffers, not to the samples of a cache",
                   {"write it at the stages around the cache"});
  for (const TensorType& tensor : draft.stage.outputs.tensors)
    if (tensor.ragged())
      return v.error(
          draft, at,
          concat("`hugepages: true` needs tensors of a fixed size, found ", tensor.text()),
          {"crop or resize all samples to one size, or omit `hugepages:`"});
}

}  // namespace

void validate_hugepages(Validation& v) {
  for (const Draft& draft : v.drafts)
    if (draft.stage.hugepages) check_hugepages(v, draft);
}

}  // namespace brigade
