#pragma once

// A program that starts graphs and reads their outputs.

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <brigade/pipeline.h>
#include "tests/support/faulty_stages.h"
#include "tests/support/temporary_folder.h"

namespace brigade {

class Program {
 public:
  /// Null where the graph does not start, which is a failure.
  std::unique_ptr<Run> start(const std::string& yaml, bool in_process = true,
                             const Events* events = nullptr) const {
    auto run = try_start(yaml, in_process, [&](Pipeline& pipeline) {
      if (events != nullptr) pipeline.events(*events);
    });
    EXPECT_TRUE(run.ok()) << run.error().message;
    return run ? std::move(*run) : nullptr;
  }
  Result<std::unique_ptr<Run>> try_start(const std::string& yaml, bool in_process,
                                         const std::function<void(Pipeline&)>& set) const {
    auto pipeline = Pipeline::from_file(folder_.write("graph.yaml", yaml));
    if (!pipeline) return pipeline.error();
    set(*pipeline);
    return pipeline->quiet().in_process(in_process).start(app_);
  }
  std::string start_failure(const std::string& yaml) const {
    return Pipeline::from_file(folder_.write("graph.yaml", yaml))->start(app_).error().message;
  }
  const TemporaryFolder& folder() const { return folder_; }
  const App& app() const { return app_; }

 private:
  TemporaryFolder folder_;
  char name_[8] = "program";
  char* arguments_[1] = {name_};
  App app_{1, arguments_, faulty_stage_types()};
};

/// Of a run that has ended: what was stalled.
inline std::vector<Event> stalled_of(Events events) {
  std::vector<Event> stalled;
  while (auto event = events.next().value())
    if (event->kind == EventKind::stalled) stalled.push_back(std::move(*event));
  return stalled;
}
inline void await_stalled(Events events) {
  while (const auto event = events.next().value())
    if (event->kind == EventKind::stalled) return;
}

/// Of a suite that runs in processes and in threads.
inline std::string threads_or_processes(const testing::TestParamInfo<bool>& in_process) {
  return in_process.param ? "Threads" : "Processes";
}

/// What /proc says of the memory at an address: "rw-s", "r--s", ...; empty where none is mapped.
inline std::string access_to(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::string access;
    words >> std::hex >> begin >> dash >> end >> access;
    if (at >= begin && at < end) return access;
  }
  return "";
}

}  // namespace brigade
