#pragma once

// The two interfaces for stages. Legal call order, all from one thread at a time:
//
//   Stage:     open (process* epoch_end)* close      a stream: process* ends with Next::end
//              save, where the contract has it, between any of these
//   Producer:  open size read* close
//
// process() and read() write directly into shared memory; views and slots are valid until they
// return. An Error or an exception fails that sample (or batch), and `on_error:` decides what
// follows. A replica may be killed and restarted at any time; then open() is called again.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include <brigade/check.h>
#include <brigade/record.h>
#include <brigade/result.h>
#include <brigade/shared.h>
#include <brigade/types.h>

namespace brigade {

class Device;  // device/device.h: for the stages that ship

/// What a call did with its sample.
enum class Next : std::uint8_t {
  emit,  ///< the outputs are written
  drop,  ///< no output for this sample; needs contract.may_drop()
  wait,  ///< a stream has nothing yet
  end    ///< a stream has output all samples of this epoch
};

/// Where a stage reports numbers during the run and at its end; the last value of a name wins.
class Reporter {
 public:
  virtual ~Reporter() = default;
  virtual void report(std::string_view name, double value) = 0;
  virtual void report(std::string_view name, std::uint64_t value) = 0;
  /// One line for the user, shown with the stage's name.
  virtual void log(std::string_view line) = 0;
  /// The same, unless a replica of the stage has already logged a line about this subject in this
  /// run.
  virtual void log_once(std::string_view subject, std::string_view line) {
    static_cast<void>(subject);
    log(line);
  }
};

/// Shared memory with dense input tensors, mapped into this process: whole pages, read-only.
struct InputMemory {
  const std::byte* data = nullptr;
  std::uint64_t bytes = 0;
};

/// Arguments of open(). References are valid until close() returns.
struct OpenContext {
  std::string stage;  ///< its name in the YAML
  int replica = 0;    ///< 0 .. replicas - 1
  int replicas = 1;
  int threads = 1;             ///< that libraries inside this process may use
  std::string device = "cpu";  ///< "cpu", "auto", "cuda", "cuda:N", "host" as the YAML says
  Pin pin = Pin::automatic;    ///< whether input_memory is pinned for its device
  std::vector<InputMemory> input_memory;  ///< of a stage that keep()s batches, or uploads()
  std::uint64_t hold = 1;                 ///< tasks that it may keep() at once
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;  ///< stream_id that keys this stage's random numbers
  std::uint32_t epochs = 1;
  /// For a stream: where it resumes. Zeros, except in a restarted replica: then it has output that
  /// many samples of that epoch, and the next call of process() should output the one after them.
  std::uint32_t epoch = 0;
  std::uint64_t samples_done = 0;
  /// The graph is already running: this replica was restarted, or opens a source only to name its
  /// samples. An indexed source should find the same data as when the run began.
  bool again = false;
  std::int64_t samples_max = 1;  ///< samples in one call at most: the batch, or 1
  /// Result of save() at the checkpoint that this run resumes from; empty: it starts over.
  std::string_view saved;
  std::shared_ptr<Device> tensors_device;    ///< device of its tensors; null: none
  std::vector<SharedTensor> shared_tensors;  ///< those that `shared:` names
  Ports inputs;  ///< types per sample; of a single source, or all as "port.tensor"
  Ports outputs;
  Reporter* reporter = nullptr;
  const void* params_data = nullptr;
  const char* params_type = "";

  /// A tensor named by `shared:`; an error if the stage names no such tensor.
  Result<SharedTensor> shared(std::string_view name) const {
    for (const SharedTensor& tensor : shared_tensors)
      if (tensor.name() == name) return tensor;
    const std::string wanted(name);
    return Error{"the stage has no shared tensor \"" + wanted + "\"; write `shared: " + wanted +
                 "` in the stage, and its dtype and shape under the top-level `shared:`"};
  }

  /// The checked parameters; P must be the contract's struct.
  template <class P>
  const P& params() const {
    BRIGADE_CHECK(std::string_view(params_type) == typeid(P).name(), params_type);
    return *static_cast<const P*>(params_data);
  }
};

struct EpochEnd {
  std::uint32_t epoch = 0;
  std::string_view source;  ///< the port whose epoch ended
};

/// A transform, a consumer, or a producer of unknown length: a stream. A stream is called until it
/// returns Next::end, then gets epoch_end(), and then continues with the next epoch, for as many
/// epochs as the graph has. With several replicas there is one epoch, which ends when every replica
/// has returned Next::end.
class Stage {
 public:
  virtual ~Stage() = default;
  virtual Result<void> open(const OpenContext&) { return {}; }
  virtual Result<Next> process(const Inputs& in, Outputs& out) = 0;
  /// Called after the last sample of an epoch of this stage, at least once per replica.
  virtual Result<void> epoch_end(const EpochEnd&) { return {}; }
  /// The state that a successor needs to continue after the samples and epoch ends so far: it gets
  /// these bytes as OpenContext::saved, then the following samples. Called between other calls, as
  /// `checkpoint:` asks; only if the contract saves().
  virtual Result<std::string> save() { return std::string(); }
  virtual Result<void> close() { return {}; }
};

/// An indexed source. The runtime owns order: shuffling, epochs, sharding, limit, resuming.
class Producer {
 public:
  virtual ~Producer() = default;
  virtual Result<void> open(const OpenContext&) { return {}; }
  virtual Result<std::uint64_t> size() = 0;
  /// A hash of what the indices stand for, such as the names of all files; 0: unknown. It must not
  /// change while a graph runs: a replica that finds another one is rejected.
  virtual std::uint64_t fingerprint() { return 0; }
  /// Writes sample `index` in [0, size()). Must depend on nothing but its parameters and `index`.
  virtual Result<Next> read(std::uint64_t index, Outputs& out) = 0;
  /// Names a sample in messages: "n01440764/x.JPEG".
  virtual std::string describe(std::uint64_t index) const {
    return "sample " + std::to_string(index);
  }
  virtual Result<void> close() { return {}; }
};

}  // namespace brigade
