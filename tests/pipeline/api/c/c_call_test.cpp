// What callers of the C ABI do wrong, and callers compiled with another version of it.

#include <brigade/c.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <thread>

#include "tests/pipeline/api/c/c_program.h"

namespace brigade {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(CBadUse, MissingArgumentsAreNamed) {
  const Opened opened(graph_yaml("epochs: 1000\n"), BRIGADE_IN_PROCESS);
  brigade_batch* const batch = opened.take();
  brigade_batch* another = nullptr;
  brigade_output* output = nullptr;
  brigade_tensor tensor{};
  tensor.size = sizeof tensor;
  const auto refused = [](brigade_status status, const std::string& why) {
    EXPECT_EQ(status, BRIGADE_ERROR_ARGUMENT) << why;
    EXPECT_THAT(last_error(), HasSubstr(why));
  };
  refused(brigade_app_open(nullptr, nullptr), "app is NULL");
  refused(brigade_graph_from_files(nullptr, 1, nullptr), "paths is NULL");
  refused(brigade_graph_from_text("", "x", nullptr), "graph is NULL");
  refused(brigade_graph_set(opened.graph, nullptr), "key_and_value is NULL");
  refused(brigade_run_start(nullptr, this_program, nullptr, nullptr), "graph is NULL");
  refused(brigade_run_wait(nullptr), "run is NULL");
  refused(brigade_run_output(opened.run, nullptr, &output), "name is NULL");
  refused(brigade_run_output(opened.run, "test", &output),
          "there is no output \"test\": the graph has train");
  refused(brigade_output_next(opened.train, nullptr), "batch is NULL");
  refused(brigade_output_next(nullptr, &another), "output is NULL");
  refused(brigade_batch_find(batch, "image", &tensor),
          "has no tensor \"image\": its tensors are data");
  refused(brigade_batch_find(batch, "data", nullptr), "tensor is NULL");
  refused(brigade_batch_tensor(batch, 1, &tensor),
          "there is no tensor 1: expected an index below 1");
  refused(brigade_graph_diagnostic(opened.graph, 0, nullptr),
          "there is no diagnostic 0: expected an index below 0");
  brigade_sample sample{};
  refused(brigade_batch_sample(batch, 0, &sample), "the size of sample is 0");
  sample.size = sizeof sample;
  refused(brigade_batch_sample(batch, 16, &sample),
          "there is no sample 16: expected an index below 16");
  brigade_run_options options = run_options(1u << 20);
  brigade_run* run = nullptr;
  refused(brigade_run_start(opened.graph, this_program, &options, &run), "unknown flags");
  options.size = 1 << 20;
  refused(brigade_run_start(opened.graph, this_program, &options, &run), "the size of");
  brigade_batch_release(batch);
  brigade_batch_release(nullptr);
  brigade_output_close(nullptr);
  brigade_run_close(nullptr);
}

TEST(CBadUse, MessagesAreOfTheThread) {
  brigade_graph* graph = nullptr;
  EXPECT_EQ(brigade_graph_from_text(nullptr, "x", &graph), BRIGADE_ERROR_ARGUMENT);
  std::thread([] { EXPECT_EQ(last_error(), ""); }).join();
  EXPECT_EQ(last_error(), "yaml is NULL");
}

// Structs of callers that were compiled with another version of the header.
struct Later {
  brigade_sample known;
  std::uint64_t more;
};

TEST(CVersions, ACallerMayKnowFewerMembersOrMore) {
  const Opened opened(graph_yaml(), BRIGADE_IN_PROCESS);
  brigade_batch* const batch = opened.take();
  Later later{{sizeof later, 0, 0, 0, 0}, 77};
  EXPECT_EQ(brigade_batch_sample(batch, 1, &later.known), BRIGADE_OK);
  EXPECT_EQ(later.known.number, 1u);
  EXPECT_EQ(later.known.size, sizeof later);
  EXPECT_EQ(later.more, 0u);

  brigade_sample earlier{offsetof(brigade_sample, index), 0, 7, 77, 777};
  EXPECT_EQ(brigade_batch_sample(batch, 1, &earlier), BRIGADE_OK);
  EXPECT_EQ(earlier.number, 1u);
  EXPECT_EQ(earlier.epoch, 0u);
  EXPECT_EQ(earlier.index, 77u);  // not the caller's struct any more
  brigade_batch_release(batch);

  struct {
    brigade_run_options known;
    std::uint64_t more;
  } options{run_options(BRIGADE_IN_PROCESS), 1};
  options.known.size = sizeof options;
  brigade_run* run = nullptr;
  EXPECT_EQ(brigade_run_start(opened.graph, this_program, &options.known, &run),
            BRIGADE_ERROR_ARGUMENT);
  EXPECT_THAT(last_error(), HasSubstr("does not know"));
  options.more = 0;
  EXPECT_EQ(brigade_run_start(opened.graph, this_program, &options.known, &run), BRIGADE_OK);
  brigade_run_close(run);
}

TEST(CVersions, TheLibrarySaysWhichItIs) { EXPECT_THAT(brigade_version(), StartsWith("0.")); }

}  // namespace
}  // namespace brigade
