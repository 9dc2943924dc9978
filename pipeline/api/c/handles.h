#pragma once

// The objects behind the handles of the C ABI. The caller owns
// a handle; several handles can share ownership of an object.

#include <brigade/c.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <brigade/event.h>
#include <brigade/pipeline.h>
#include "base/forked.h"
#include "pipeline/api/c/shared_end.h"
#include "pipeline/application/batch_uploads.h"

struct brigade_app {
  std::shared_ptr<const brigade::App> app;  // also of the runs that it has started
};

struct brigade_graph {
  brigade::Pipeline pipeline;
  std::vector<brigade::GraphDiagnostic> diagnostics = {};
  std::string plan = {};
};

struct brigade_run {
  std::shared_ptr<const brigade::App> app;
  std::unique_ptr<brigade::Run> run;
  brigade::c_api::SharedEnds<brigade::Output> outputs = {};
  brigade::c_api::SharedEnds<brigade::Input> inputs = {};
  std::mutex mutex = {};  // of the summary, and of:
  std::map<std::string, std::weak_ptr<brigade::BatchUploads>> uploads = {};  // by device
  std::optional<std::string> summary = {};
  std::string state = {};
  std::string mark = {};
  std::string stats = {};
};

struct brigade_events {
  brigade::Events events;
  brigade::Event last = {};  // whose text the caller reads
  std::string text = {};
};

struct brigade_output {
  std::shared_ptr<brigade::c_api::SharedEnd<brigade::Output>> shared;
};

namespace brigade::c_api {
struct SlotPool;
}

struct brigade_slot {
  std::optional<brigade::Slot> slot;               // nothing: it was submitted or dropped
  std::shared_ptr<brigade::c_api::SlotPool> pool;  // as long as it is held
};

/// What the slots of an input handle lie in, as long as the handle or one of them is held. A slot
/// that came back is given again later than others, so that a call with it is an error meanwhile.
struct brigade::c_api::SlotPool {
  const ForkMark mark = {};
  std::mutex mutex = {};  // of all that follows
  std::deque<brigade_slot> slots = {};
  std::deque<brigade_slot*> free = {};  // who has waited longest is first
};

struct brigade_input {
  std::shared_ptr<brigade::c_api::SharedEnd<brigade::Input>> shared;
  std::shared_ptr<brigade::c_api::SlotPool> pool;
};

struct brigade_uploads {
  std::shared_ptr<brigade::BatchUploads> uploads;
};

struct brigade_upload {
  std::unique_ptr<brigade::BatchUpload> upload;
};

struct brigade_shared {
  brigade::SharedTensor tensor;
};

struct brigade_batch {
  brigade::Batch batch;
  std::atomic<std::uint64_t> holders{1};
};
