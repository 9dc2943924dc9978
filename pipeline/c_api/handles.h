#pragma once

// What stands behind the handles of the C ABI. A handle is its caller's; what several of them share
// is owned together.

#include <brigade/c.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <brigade/pipeline.h>

struct brigade_app {
  std::shared_ptr<const brigade::App> app;  // also of the runs that it has started
};

struct brigade_graph {
  brigade::Pipeline pipeline;
  std::vector<brigade::GraphDiagnostic> diagnostics = {};
  std::string plan = {};
};

namespace brigade::c_api {

/// An output, which is closed when the last handle on it is.
struct SharedOutput {
  explicit SharedOutput(Output opened) : output(std::move(opened)) {}

  Output output;
  std::atomic<bool> in_call{false};
  std::unordered_set<std::string> places = {};  // file names of callers; of whoever is in a call
};

/// The one call with an output that may be under way.
class OutputCall {
 public:
  explicit OutputCall(SharedOutput& output)
      : output_(output), mine_(!output.in_call.exchange(true)) {}
  OutputCall(const OutputCall&) = delete;
  OutputCall& operator=(const OutputCall&) = delete;
  ~OutputCall() {
    if (mine_) output_.in_call.store(false);
  }
  bool is_mine() const { return mine_; }

 private:
  SharedOutput& output_;
  const bool mine_;
};

}  // namespace brigade::c_api

struct brigade_run {
  std::shared_ptr<const brigade::App> app;
  std::unique_ptr<brigade::Run> run;
  std::mutex mutex = {};
  std::map<std::string, std::weak_ptr<brigade::c_api::SharedOutput>, std::less<>> outputs = {};
  std::optional<std::string> summary = {};
  std::string state = {};
};

struct brigade_output {
  std::shared_ptr<brigade::c_api::SharedOutput> shared;
};

struct brigade_batch {
  brigade::Batch batch;
  std::atomic<std::uint64_t> holders{1};
};
