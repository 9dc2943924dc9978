// A plugin in one file: a producer, a transform and a consumer.

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
  types.add<Total>(Contract<TotalParams>("total", "Adds up.")
                       .consumer()
                       .input("tick", {i64}, {}, "a number")
                       .reports("total", Combine::sum, "the sum"));
}
