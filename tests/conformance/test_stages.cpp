#include "tests/conformance/test_stages.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fstream>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tests/conformance/sample_functions.h"

namespace brigade::conformance {

PlainTensors read_slot(const Inputs& in, std::int64_t slot) {
  const bool batched = in.frame().batched;
  const Inputs sample = in.sample(slot);
  PlainTensors tensors;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::string name(in.name(i));
    const auto base = strip_suffix(name, ".shape");
    if (batched && base && in.has(*base)) continue;
    const TensorView view = sample.at(i);
    Shape shape = view.shape();
    if (batched && in.has(name + ".shape")) {
      shape = {};
      for (const std::int64_t size : sample[name + ".shape"].as<std::int64_t>())
        shape.push_back(size);
    }
    const auto bytes = static_cast<std::size_t>(shape.elements()) * dtype_bytes(view.dtype());
    tensors.emplace_back(name, PlainTensor{view.dtype(), shape, {}});
    tensors.back().second.bytes.assign(static_cast<const char*>(view.data()), bytes);
  }
  return tensors;
}

Result<void> write_slot(const PlainTensors& tensors, Outputs& out, std::int64_t i) {
  Outputs sample = out.sample(i);
  for (const auto& [name, tensor] : tensors) {
    TensorSlot slot = sample[name];
    if (!out.frame().batched) {
      BRIGADE_TRY(slot.resize(tensor.shape));
    } else if (out.frame().find(name + ".shape") != nullptr) {
      const auto sizes = sample[name + ".shape"].as<std::int64_t>();
      std::copy(tensor.shape.begin(), tensor.shape.end(), sizes.begin());
    }
    std::memcpy(slot.data(), tensor.bytes.data(), tensor.bytes.size());
  }
  return {};
}

namespace {

struct NoParams {};

using SampleFunction = PlainTensors (*)(PlainTensors, const SampleInfo&, Philox);

PlainTensors digest(PlainTensors in, const SampleInfo&, Philox random) {
  return digest_of(std::move(in), random);
}
PlainTensors shift(PlainTensors in, const SampleInfo&, Philox random) {
  return shift_of(in, random);
}

template <SampleFunction function>
class PerSample : public Stage {
 public:
  Result<Next> process(const Inputs& in, Outputs& out) override {
    BRIGADE_CHECK(in.samples() == out.samples(), in.samples(), out.samples());
    for (std::int64_t slot = 0; slot < in.samples(); ++slot)
      BRIGADE_TRY(
          write_slot(function(read_slot(in, slot), in.info(slot), in.random(slot)), out, slot));
    return Next::emit;
  }
};

struct DripParams {
  std::vector<std::int64_t> counts = {150};
  std::uint64_t pause_every = 0;
  std::uint64_t pause_us = 1000;
};

/// A stream: now and then it has nothing for a while.
class Drip : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    params_ = context.params<DripParams>();
    epoch_ = context.epoch;
    index_ = context.samples_done;
    return {};
  }
  Result<Next> process(const Inputs&, Outputs& out) override {
    if (index_ == drip_count(params_.counts, epoch_)) return Next::end;
    const auto now = std::chrono::steady_clock::now();
    if (now < until_) return Next::wait;
    if (params_.pause_every > 0 && (index_ + 1) % params_.pause_every == 0 &&
        paused_at_ != index_) {
      paused_at_ = index_;
      until_ = now + std::chrono::microseconds(params_.pause_us);
      return Next::wait;
    }
    BRIGADE_TRY(write_slot(drop_of(epoch_, index_), out, 0));
    ++index_;
    return Next::emit;
  }
  Result<void> epoch_end(const EpochEnd& end) override {
    epoch_ = end.epoch + 1;
    index_ = paused_at_ = 0;
    return {};
  }

 private:
  DripParams params_;
  std::uint32_t epoch_ = 0;
  std::uint64_t index_ = 0;
  std::uint64_t paused_at_ = 0;
  std::chrono::steady_clock::time_point until_;
};

template <class Params>
class WithParams : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    params_ = context.params<Params>();
    return {};
  }

 protected:
  Params params_;
};

class Sift : public WithParams<SiftParams> {
 public:
  Result<Next> process(const Inputs& in, Outputs&) override {
    return sifts_out(params_, in.info(), in.random()) ? Next::drop : Next::emit;
  }
};

struct TossParams {
  std::uint64_t every = 3;
};

class Toss : public WithParams<TossParams> {
 public:
  Result<Next> process(const Inputs& in, Outputs&) override {
    return tosses_out(params_.every, in.info()) ? Next::drop : Next::emit;
  }
};

struct PiecesParams {
  std::uint64_t count = 3;
};

class Pieces : public WithParams<PiecesParams> {
 public:
  Result<Next> process(const Inputs& in, Outputs& out) override {
    const auto count = static_cast<std::int64_t>(params_.count);
    BRIGADE_CHECK(in.samples() * count == out.samples(), in.samples(), out.samples());
    for (std::int64_t slot = 0; slot < in.samples(); ++slot) {
      const auto pieces = pieces_of(read_slot(in, slot), in.random(slot), params_.count);
      for (std::int64_t part = 0; part < count; ++part)
        BRIGADE_TRY(write_slot(pieces[static_cast<std::size_t>(part)], out, slot * count + part));
    }
    return Next::emit;
  }
};

struct RecordParams {
  std::string folder;
  std::uint64_t sleep_us = 0;
  std::uint64_t keep_us = 100;
  bool let_go = false;
};

class Record : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    sleep_us_ = context.params<RecordParams>().sleep_us;
    const std::string path =
        concat(context.params<RecordParams>().folder, '/', context.stage, '.', context.replica);
    file_.open(path, std::ios::app);  // what a replica before it has written stays
    return file_ ? Result<void>{} : Error{concat("cannot write ", path)};
  }

  Result<Next> process(const Inputs& in, Outputs&) override {
    std::string text = concat("call ", in.port(), '\n');
    for (std::size_t i = 0; in.frame().batched && i < in.size(); ++i)
      if (in.at(i).shape()[0] != in.samples()) return Error{concat(in.name(i), " is no batch")};
    for (std::int64_t slot = 0; slot < in.samples(); ++slot)
      text += concat(sample_text(in.info(slot), read_slot(in, slot)), '\n');
    write(text);
    if (sleep_us_ > 0) std::this_thread::sleep_for(std::chrono::microseconds(sleep_us_));
    return Next::emit;
  }

  Result<void> epoch_end(const EpochEnd& end) override {
    write(concat("end ", end.source, ' ', end.epoch, '\n'));
    return {};
  }

  Result<void> close() override {
    file_.close();
    return file_ ? Result<void>{} : Error{"cannot write the record"};
  }

 private:
  /// A line in front, since a replica before this one may have been killed in the middle of one.
  void write(const std::string& event) { file_ << '\n' << event << "whole\n" << std::flush; }

  std::ofstream file_;
  std::uint64_t sleep_us_ = 0;
};

/// Keeps each batch for a while, and looks then, on another thread, whether it is as it was.
class KeptForAWhile {
 public:
  ~KeptForAWhile() { end(); }
  void begin(std::chrono::microseconds while_it_keeps, bool lets_go_at_once) {
    delay_ = while_it_keeps;
    lets_go_at_once_ = lets_go_at_once;
    thread_ = std::thread([this] { run(); });
  }
  void add(const Inputs& in) {
    Batch batch;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto* const data = static_cast<const std::byte*>(in.at(i).data());
      batch.tensors.emplace_back(data, std::vector(data, data + in.at(i).bytes()));
    }
    if (!lets_go_at_once_) batch.lease = in.keep();
    {
      const std::lock_guard lock(mutex_);
      batches_.push_back(std::move(batch));
    }
    told_.notify_one();
  }
  Result<void> check() {
    const std::lock_guard lock(mutex_);
    return changed_ ? Result<void>(Error{"a batch has changed that was kept"}) : Result<void>();
  }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    told_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  struct Batch {
    std::vector<std::pair<const std::byte*, std::vector<std::byte>>> tensors;
    Lease lease;
  };

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      told_.wait(lock, [this] { return ends_ || !batches_.empty(); });
      if (batches_.empty()) return;
      Batch batch = std::move(batches_.front());
      batches_.pop_front();
      lock.unlock();
      std::this_thread::sleep_for(delay_);
      bool same = true;
      for (const auto& [data, before] : batch.tensors)
        same &= before.empty() || std::memcmp(data, before.data(), before.size()) == 0;
      lock.lock();
      changed_ |= !same;
      lock.unlock();  // the lease goes without the lock
      batch.lease.reset();
      lock.lock();
    }
  }

  std::chrono::microseconds delay_{0};
  bool lets_go_at_once_ = false;
  std::mutex mutex_;  // of what follows
  std::condition_variable told_;
  std::deque<Batch> batches_;
  bool ends_ = false;
  bool changed_ = false;
  std::thread thread_;
};

/// Where nothing may be kept (samples one by one) it is a `record`.
class Keep : public Record {
 public:
  Result<void> open(const OpenContext& context) override {
    const auto& params = context.params<RecordParams>();
    kept_.begin(std::chrono::microseconds(params.keep_us), params.let_go);
    return Record::open(context);
  }
  Result<Next> process(const Inputs& in, Outputs& out) override {
    BRIGADE_TRY(kept_.check());
    if (in.may_keep()) kept_.add(in);
    return Record::process(in, out);
  }
  Result<void> epoch_end(const EpochEnd& end) override {
    BRIGADE_TRY(kept_.check());
    return Record::epoch_end(end);
  }
  Result<void> close() override {
    kept_.end();
    BRIGADE_TRY(kept_.check());
    return Record::close();
  }

 private:
  KeptForAWhile kept_;
};

Contract<RecordParams> record_contract(const char* type, const char* help) {
  return Contract<RecordParams>(type, help)
      .consumer()
      .takes(Takes::either)
      .several_inputs()
      .param("folder", &RecordParams::folder, "where STAGE.REPLICA is written")
      .required()
      .param("sleep_us", &RecordParams::sleep_us, 0, 1e6, "microseconds to sleep in every call");
}

void add_drip(StageTypes& types) {
  types.add<Drip>(Contract<DripParams>("drip", "A stream that pauses.")
                      .producer()
                      .param("counts", &DripParams::counts, 0, 1e6, "samples of each epoch in turn")
                      .param("pause_every", &DripParams::pause_every, 0, 1e6, "samples; 0: never")
                      .param("pause_us", &DripParams::pause_us, 0, 1e6, "microseconds")
                      .outputs([](const DripParams&, const Ports&) -> Result<Ports> {
                        return Ports{{"data", i64, {2}}};
                      }));
}

void add_transforms(StageTypes& types) {
  types.add<Sift>(Contract<SiftParams>("sift", "Drops samples.")
                      .param("every", &SiftParams::every, 1, 1e6, "of so many ids")
                      .param("rest", &SiftParams::rest, 0, 1e6, "the one with this rest")
                      .param("chance", &SiftParams::chance, 0, 1, "and others by chance")
                      .several_inputs()
                      .may_drop()
                      .rest_passes());
  types.add<Toss>(Contract<TossParams>("toss", "Drops batches.")
                      .takes(Takes::batches)
                      .param("every", &TossParams::every, 1, 1e6, "whose first id it divides")
                      .may_drop()
                      .rest_passes());
  types.add<Pieces>(Contract<PiecesParams>("pieces", "Several samples of each.")
                        .takes(Takes::either)
                        .param("count", &PiecesParams::count, 1, 1e6, "of each")
                        .expand([](const PiecesParams& params) { return params.count; })
                        .rest_passes()
                        .outputs([](const PiecesParams&, const Ports&) -> Result<Ports> {
                          return Ports{{"piece", u8, {up_to(6)}}, {"part", i64, {}}};
                        }));
  types.add<PerSample<digest>>(Contract<NoParams>("digest", "A hash and a draw.")
                                   .takes(Takes::either)
                                   .several_inputs()
                                   .rest_passes()
                                   .outputs([](const NoParams&, const Ports&) -> Result<Ports> {
                                     return Ports{{"digest", i64, {2}}};
                                   }));
  types.add<PerSample<shift>>(Contract<NoParams>("shift", "Changes `data`.")
                                  .takes(Takes::either)
                                  .one_of({{"data", {}, true, {}, "what is changed"}})
                                  .rest_passes()
                                  .outputs([](const NoParams&, const Ports& in) -> Result<Ports> {
                                    return Ports{*in.find("data")};
                                  }));
  types.add<PerSample<split_of>>(
      Contract<NoParams>("split", "Several outputs.")
          .takes(Takes::either)
          .several_inputs()
          .outputs([](const NoParams&, const Ports&) -> Result<Ports> {
            return Ports{{"low", u8, {3}}, {"high", f32, {2, 2}}, {"words", i32, {up_to(5), 2}}};
          }));
}

}  // namespace

StageTypes conformance_stage_types() {
  StageTypes types;
  add_drip(types);
  add_transforms(types);
  types.add<Record>(record_contract("record", "Writes down its calls."));
  types.add<Keep>(record_contract("keep", "Writes down its calls, and keeps its batches.")
                      .holds()
                      .takes(Takes::either)
                      .param("keep_us", &RecordParams::keep_us, 0, 1e6, "microseconds")
                      .param("let_go", &RecordParams::let_go, "it looks, but does not keep"));
  return types;
}

}  // namespace brigade::conformance
