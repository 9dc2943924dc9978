#pragma once

// Stages made of lambdas, and a log of everything a stage was told.

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <brigade/stage.h>

namespace brigade::support {

class LambdaProducer : public Producer {
 public:
  using Read = std::function<Result<Next>(std::uint64_t index, Outputs& out)>;
  LambdaProducer(std::uint64_t count, Read read) : count_(count), read_(std::move(read)) {}

  Result<std::uint64_t> size() override { return count_; }
  Result<Next> read(std::uint64_t index, Outputs& out) override { return read_(index, out); }
  std::string describe(std::uint64_t index) const override {
    return "file_" + std::to_string(index);
  }

 private:
  std::uint64_t count_;
  Read read_;
};

class LambdaStage : public Stage {
 public:
  using Process = std::function<Result<Next>(const Inputs& in, Outputs& out)>;
  explicit LambdaStage(Process process) : process_(std::move(process)) {}

  Result<void> open(const OpenContext& context) override { return on_open(context); }
  Result<Next> process(const Inputs& in, Outputs& out) override { return process_(in, out); }
  Result<void> epoch_end(const EpochEnd& end) override { return on_epoch_end(end); }

  std::function<Result<void>(const OpenContext&)> on_open = [](const OpenContext&) {
    return Result<void>();
  };
  std::function<Result<void>(const EpochEnd&)> on_epoch_end = [](const EpochEnd&) {
    return Result<void>();
  };

 private:
  Process process_;
};

/// What a stage was told: a call with its samples, or the end of an epoch.
struct Event {
  bool is_end = false;
  std::string port;  ///< of the call, or whose epoch ended
  std::uint32_t epoch = 0;
  std::vector<SampleInfo> samples;
  std::vector<std::int64_t> values;  ///< of the tensor that is logged, by slot
};

/// The events of a stage's replicas, each written by its own thread.
struct Log {
  explicit Log(int replicas = 1) : events(static_cast<std::size_t>(replicas)) {}
  std::vector<std::vector<Event>> events;

  /// Calls of all replicas, by number of their first slot.
  std::vector<Event> calls(const std::string& port) const {
    std::vector<Event> all;
    for (const auto& of_replica : events)
      for (const Event& event : of_replica)
        if (!event.is_end && event.port == port) all.push_back(event);
    std::sort(all.begin(), all.end(), [](const Event& a, const Event& b) {
      return a.samples.front().number < b.samples.front().number;
    });
    return all;
  }
};

/// A consumer that logs what it sees of `tensor` ("PORT.value" under zip).
inline std::unique_ptr<LambdaStage> make_logger(Log& log, int replica,
                                                const std::string& tensor = "value") {
  auto& events = log.events[static_cast<std::size_t>(replica)];
  auto stage = std::make_unique<LambdaStage>([&events, tensor](const Inputs& in, Outputs&) {
    Event event;
    event.port = in.port();
    event.epoch = in.info().epoch;
    for (std::int64_t slot = 0; slot < in.samples(); ++slot) {
      event.samples.push_back(in.info(slot));
      event.values.push_back(in.sample(slot)[tensor].as<std::int64_t>()[0]);
    }
    events.push_back(std::move(event));
    return Result<Next>(Next::emit);
  });
  stage->on_epoch_end = [&events](const EpochEnd& end) {
    events.push_back({true, std::string(end.source), end.epoch, {}, {}});
    return Result<void>();
  };
  return stage;
}

}  // namespace brigade::support
