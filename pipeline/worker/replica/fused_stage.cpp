#include "pipeline/worker/replica/fused_stage.h"

#include <algorithm>
#include <utility>

#include <brigade/random.h>
#include <brigade/text.h>
#include "base/arithmetic.h"
#include "pipeline/plan/ring_layout.h"
#include "pipeline/records/record_field.h"

namespace brigade {
namespace {

/// The field of a tensor, and for batches of ragged samples NAME.shape.
void add_fields(const TensorType& type, bool batched, std::uint64_t slots, Frame& frame) {
  Field& field = frame.fields.emplace_back(make_field(type, type.name, batched, slots));
  field.sample_stride = type.bytes_max();
  if (!type.ragged()) return;
  field.sample_stride = round_up(field.sample_stride, kRaggedSlotAlignment);
  const auto rank = static_cast<std::int64_t>(type.shape.size());
  if (batched) add_fields({type.name + ".shape", i64, {Dim(rank)}}, batched, slots, frame);
}

int index_of(const Frame& frame, const std::string& name) {
  for (std::size_t i = 0; i < frame.fields.size(); ++i)
    if (frame.fields[i].name == name) return static_cast<int>(i);
  return -1;
}

/// Puts the link's name before what it reports.
class LinkReporter final : public Reporter {
 public:
  LinkReporter(std::string link, Reporter* reporter) : link_(std::move(link)), all_(reporter) {}
  void report(std::string_view name, double value) override {
    all_->report(concat(link_, ".", name), value);
  }
  void report(std::string_view name, std::uint64_t value) override {
    all_->report(concat(link_, ".", name), value);
  }
  void log(std::string_view line) override { all_->log(line); }
  void log_once(std::string_view subject, std::string_view line) override {
    all_->log_once(concat(link_, ".", subject), line);
  }

 private:
  std::string link_;
  Reporter* all_;
};

}  // namespace

struct FusedStage::Link {
  /// Where a field of the input comes from: the output of a link before, or the stage's input.
  struct Origin {
    int link = -1;  // -1: the stage's input
    int field = 0;
  };

  std::string name;
  std::unique_ptr<Stage> body;
  OpenContext context;
  std::optional<LinkReporter> reporter;
  Frame in;
  std::vector<Origin> origins;  // of in.fields
  Frame out;
  std::vector<SlotScratch> memory;  // of out.fields; none for what goes into the stage's slot
  std::vector<int> in_slot;         // of out.fields: the field of the stage's output, or -1
};

FusedStage::FusedStage(const StageType& type, std::vector<std::unique_ptr<Stage>> bodies,
                       std::string random, bool batched)
    : type_(&type), links_(bodies.size()), random_(std::move(random)), batched_(batched) {
  const std::vector<std::string> names = fused_link_names(type.links);
  for (std::size_t i = 0; i < links_.size(); ++i) {
    links_[i].name = names[i];
    links_[i].body = std::move(bodies[i]);
  }
}

FusedStage::~FusedStage() = default;

Result<void> FusedStage::open(const OpenContext& context) {
  const auto& params = context.params<FusedParams>();
  BRIGADE_ASSIGN(const FusedPorts ports, fused_ports(*type_, &params, context.inputs));
  slots_ = static_cast<std::uint64_t>(context.samples_max);
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    make_fields(i, ports);
    link.context = context;
    link.context.stream = stream_id(concat(random_, "/", link.name));
    link.context.inputs = ports.links[i].in;
    link.context.outputs = ports.links[i].own;
    link.context.params_data = params.links[i].get();
    link.context.params_type = type_->links[i]->contract.params_type;
    link.reporter.emplace(link.name, context.reporter);
    link.context.reporter = &*link.reporter;
    link.in.seed = context.seed;
    link.in.stream = link.context.stream;
    if (auto opened = link.body->open(link.context); !opened)
      return opened.error().within(link.name);
  }
  return {};
}

void FusedStage::make_fields(std::size_t index, const FusedPorts& ports) {
  Link& link = links_[index];
  link.in.batched = link.out.batched = batched_;
  for (const TensorType& tensor : ports.links[index].in.tensors)
    add_fields(tensor, batched_, slots_, link.in);
  for (const TensorType& tensor : ports.links[index].own.tensors) {
    add_fields(tensor, batched_, slots_, link.out);
    const bool written_again =
        std::any_of(ports.links.begin() + static_cast<long>(index) + 1, ports.links.end(),
                    [&](const auto& later) { return later.own.find(tensor.name) != nullptr; });
    const bool stays = ports.out.find(tensor.name) != nullptr && !written_again;
    for (std::size_t f = link.memory.size(); f < link.out.fields.size(); ++f) {
      link.memory.emplace_back();
      if (!stays) link.memory.back().reserve(slots_ * link.out.fields[f].sample_stride);
    }
  }
}

/// The stage's own frames keep their fields: which is which is looked up once.
void FusedStage::bind(const Frame& from, const Frame& to) {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    for (const Field& field : link.in.fields) {
      Link::Origin origin{static_cast<int>(i), -1};
      while (origin.field < 0 && --origin.link >= 0)
        origin.field = index_of(links_[static_cast<std::size_t>(origin.link)].out, field.name);
      if (origin.field < 0) origin.field = index_of(from, field.name);
      BRIGADE_CHECK(origin.field >= 0, "a fused stage lost a tensor:", field.name);
      link.origins.push_back(origin);
    }
    for (std::size_t f = 0; f < link.out.fields.size(); ++f) {
      const bool stays = link.memory[f].data() == nullptr;
      link.in_slot.push_back(stays ? index_of(to, link.out.fields[f].name) : -1);
    }
  }
  bound_ = true;
}

void FusedStage::begin(Link& link, const Frame& from, Frame& to) {
  link.in.infos = from.infos;
  link.in.samples = link.out.samples = from.samples;
  if (link.in.port != from.port) link.in.port = from.port;
  for (std::size_t f = 0; f < link.in.fields.size(); ++f) {
    const Link::Origin origin = link.origins[f];
    const Frame& frame = origin.link < 0 ? from : links_[static_cast<std::size_t>(origin.link)].out;
    const Field& source = frame.fields[static_cast<std::size_t>(origin.field)];
    link.in.fields[f].data = source.data;
    link.in.fields[f].shape = source.shape;
  }
  for (std::size_t f = 0; f < link.out.fields.size(); ++f) {
    Field& field = link.out.fields[f];
    if (batched_) field.bounds[0] = from.samples;
    field.shape = field.bounds;
    const int in_slot = link.in_slot[f];
    field.data =
        in_slot < 0 ? link.memory[f].data() : to.fields[static_cast<std::size_t>(in_slot)].data;
  }
}

Result<Next> FusedStage::process(const Inputs& in, Outputs& out) {
  if (!bound_) bind(in.frame(), out.frame());
  for (Link& link : links_) {
    begin(link, in.frame(), out.frame());
    Outputs own(link.out);
    Result<Next> answer = link.body->process(Inputs(link.in), own);
    if (!answer) return answer.error().within(link.name);
    if (*answer != Next::emit) return answer;
    for (std::size_t f = 0; f < link.out.fields.size(); ++f) {
      if (link.in_slot[f] >= 0)
        out.frame().fields[static_cast<std::size_t>(link.in_slot[f])].shape =
            link.out.fields[f].shape;
    }
  }
  return Next::emit;
}

Result<void> FusedStage::epoch_end(const EpochEnd& end) {
  for (Link& link : links_)
    if (auto told = link.body->epoch_end(end); !told) return told.error().within(link.name);
  return {};
}

Result<void> FusedStage::close() {
  for (Link& link : links_)
    if (auto closed = link.body->close(); !closed) return closed.error().within(link.name);
  return {};
}

}  // namespace brigade
