#pragma once

// Stages made of lambdas, and a log of everything a stage was told.

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "stages/api/stage.h"

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

/// What a stage was told: a call with its rows, or the end of an epoch.
struct Event {
  bool is_end = false;
  std::string port;  ///< of the call, or whose epoch ended
  std::uint32_t epoch = 0;
  std::vector<SampleInfo> rows;
  std::vector<std::int64_t> values;  ///< of the tensor "value", by row
};

/// A consumer that logs what it sees in `log`, which only its replica writes.
inline std::unique_ptr<LambdaStage> make_logger(std::vector<Event>& log,
                                                const std::string& tensor = "value") {
  auto stage = std::make_unique<LambdaStage>([&log, tensor](const Inputs& in, Outputs&) {
    Event event;
    event.port = in.port();
    for (std::int64_t row = 0; row < in.rows(); ++row) {
      event.rows.push_back(in.sample(row));
      event.values.push_back(in.row(row)[tensor].as<std::int64_t>()[0]);
    }
    event.epoch = in.sample().epoch;
    log.push_back(std::move(event));
    return Result<Next>(Next::emit);
  });
  stage->on_epoch_end = [&log](const EpochEnd& end) {
    log.push_back({true, std::string(end.source), end.epoch, {}, {}});
    return Result<void>();
  };
  return stage;
}

}  // namespace brigade::support
