// A plugin in one file: a producer, three transforms and a consumer.

#include <cstring>

#include <brigade/plugin.h>

using namespace brigade;

namespace {

struct TicksParams {
  std::int64_t count = 100;
};
class Ticks : public Producer {
 public:
  Result<void> open(const OpenContext& context) override {
    count_ = static_cast<std::uint64_t>(context.params<TicksParams>().count);
    return {};
  }
  Result<std::uint64_t> size() override { return count_; }
  Result<Next> read(std::uint64_t index, Outputs& out) override {
    out["tick"].as<std::int64_t>()[0] = static_cast<std::int64_t>(index);
    return Next::emit;
  }

 private:
  std::uint64_t count_ = 0;
};

struct NegateParams {};
class Negate : public Stage {
 public:
  Result<Next> process(const Inputs& in, Outputs& out) override {
    out["tick"].as<std::int64_t>()[0] = -in["tick"].as<std::int64_t>()[0];
    return Next::emit;
  }
};

struct SeedsParams {};
class Seeds : public Stage {
 public:
  Result<Next> process(const Inputs& in, Outputs& out) override {
    out["seed"].as<std::int64_t>()[0] = static_cast<std::int64_t>(in.random().next64() >> 1);
    return Next::emit;
  }
};

struct FillsParams {
  std::int64_t beyond = 0;
};
class Fills : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    BRIGADE_ASSIGN(part_, context.shared("result"));
    bytes_ = part_.bytes() + static_cast<std::size_t>(context.params<FillsParams>().beyond);
    return {};
  }
  Result<Next> process(const Inputs& in, Outputs& out) override {
    std::memset(part_.data(), 1, bytes_);
    out["tick"].as<std::int64_t>()[0] = in["tick"].as<std::int64_t>()[0];
    return Next::emit;
  }

 private:
  SharedTensor part_;
  std::size_t bytes_ = 0;
};

struct TotalParams {};
class Total : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    reporter_ = context.reporter;
    return {};
  }
  Result<Next> process(const Inputs& in, Outputs&) override {
    total_ += static_cast<double>(in["tick"].as<std::int64_t>()[0]);
    return Next::emit;
  }
  Result<void> close() override {
    reporter_->report("total", total_);
    return {};
  }

 private:
  Reporter* reporter_ = nullptr;
  double total_ = 0;
};

Result<Ports> one_tick() { return Ports{{"tick", i64, {}}}; }

}  // namespace

BRIGADE_PLUGIN(types) {
  types.add<Ticks>(Contract<TicksParams>("ticks", "Counts up.")
                       .producer()
                       .param("count", &TicksParams::count, 1, 1e9, "samples per epoch")
                       .outputs([](const TicksParams&, const Ports&) { return one_tick(); }));
  types.add<Negate>(Contract<NegateParams>("negate", "Changes the sign.")
                        .transform()
                        .input("tick", {i64}, {}, "a number")
                        .outputs([](const NegateParams&, const Ports&) { return one_tick(); }));
  types.add<Seeds>(Contract<SeedsParams>("seeds", "What Python calls sample.seed(), halved.")
                       .transform()
                       .outputs([](const SeedsParams&, const Ports&) -> Result<Ports> {
                         return Ports{{"seed", i64, {}}};
                       }));
  types.add<Fills>(Contract<FillsParams>("fills", "Writes its part of a shared tensor, or more.")
                       .transform()
                       .param("beyond", &FillsParams::beyond, 0, 1e6, "bytes behind its part")
                       .input("tick", {i64}, {}, "a number")
                       .outputs([](const FillsParams&, const Ports&) { return one_tick(); }));
  types.add<Total>(Contract<TotalParams>("total", "Adds up.")
                       .consumer()
                       .input("tick", {i64}, {}, "a number")
                       .reports("total", Combine::sum, "the sum"));
}
