// What happens in a run, as a program in C sees it.

#include <brigade/c.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/pipeline/api/c/c_program.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

struct Seen {
  std::map<int, int> kinds;
  std::string died_text;
  int died_pid = 0;
  int died_signal = 0;
  int restarted_pid = 0;
  int exit_code = -1;
  int last_kind = -1;
};

brigade_event empty_event() {
  brigade_event event{};
  event.size = sizeof event;
  return event;
}

Seen read_all(brigade_events* events) {
  Seen seen;
  brigade_event event = empty_event();
  while (brigade_events_next(events, BRIGADE_FOR_EVER, &event) == BRIGADE_OK) {
    ++seen.kinds[event.kind];
    seen.last_kind = event.kind;
    if (event.kind == BRIGADE_EVENT_DIED) {
      seen.died_text = event.text;
      seen.died_pid = event.pid;
      seen.died_signal = event.signal;
    }
    if (event.kind == BRIGADE_EVENT_RESTARTED) seen.restarted_pid = event.pid;
    if (event.kind == BRIGADE_EVENT_ENDED) seen.exit_code = event.exit_code;
  }
  return seen;
}

TEST(CEvents, OfAWorkerThatCrashesAreItsDeathARestartAndTheEnd) {
  brigade_events* events = nullptr;
  ASSERT_EQ(brigade_events_open(&events), BRIGADE_OK) << last_error();
  brigade_event event = empty_event();
  EXPECT_EQ(brigade_events_next(events, 0, &event), BRIGADE_TIMEOUT);
  EXPECT_GE(brigade_events_descriptor(events), 0);
  brigade_run_options options{};
  options.size = sizeof options;
  options.log_descriptor = BRIGADE_NO_LINES;
  options.events = events;
  const TemporaryFolder folder;
  {
    const Opened opened(
        "stages:\n"
        "  numbers: {producer: synthetic, params: {count: 1000, shape: [3]}}\n"
        "  slow: {transform: delay, from: numbers, params: {crash_once_at: [7], crash_marker: " +
            (folder.path() / "crashed").string() +
            "}}\n"
            "  train: {consumer: application, from: {stage: slow, batch: 16}}\n",
        options);
    brigade_batch* batch = nullptr;
    while (brigade_output_next(opened.train, &batch) == BRIGADE_OK) brigade_batch_release(batch);
    EXPECT_EQ(brigade_run_wait(opened.run), BRIGADE_OK) << last_error();
  }
  const Seen seen = read_all(events);
  EXPECT_EQ(seen.kinds.at(BRIGADE_EVENT_RUNNING), 1);
  EXPECT_EQ(seen.kinds.at(BRIGADE_EVENT_DIED), 1);
  EXPECT_EQ(seen.kinds.at(BRIGADE_EVENT_RESTARTED), 1);
  EXPECT_GE(seen.kinds.at(BRIGADE_EVENT_EPOCH), 1);
  EXPECT_EQ(seen.last_kind, BRIGADE_EVENT_ENDED);
  EXPECT_EQ(seen.exit_code, 0);
  EXPECT_NE(seen.died_signal, 0);
  EXPECT_GT(seen.died_pid, 0);
  EXPECT_GT(seen.restarted_pid, 0);
  EXPECT_NE(seen.restarted_pid, seen.died_pid);
  EXPECT_NE(seen.died_text.find("stage \"slow\" replica 0"), std::string::npos) << seen.died_text;
  EXPECT_EQ(brigade_events_next(events, 0, &event), BRIGADE_END);
  brigade_events_close(events);
}

TEST(CEvents, OfARunThatCannotStartEnd) {
  brigade_events* events = nullptr;
  ASSERT_EQ(brigade_events_open(&events), BRIGADE_OK);
  brigade_graph* graph = nullptr;
  ASSERT_EQ(brigade_graph_from_text("stages: {}\n", "graph", &graph), BRIGADE_OK);
  brigade_run_options options{};
  options.size = sizeof options;
  options.events = events;
  brigade_run* run = nullptr;
  EXPECT_EQ(brigade_run_start(graph, this_program, &options, &run), BRIGADE_ERROR_GRAPH);
  brigade_event event = empty_event();
  EXPECT_EQ(brigade_events_next(events, BRIGADE_FOR_EVER, &event), BRIGADE_END);
  brigade_graph_close(graph);
  brigade_events_close(events);
}

}  // namespace
}  // namespace brigade
