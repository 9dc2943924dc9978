// Batches on a device, in C; and outputs that are asked without a wait.

#include <brigade/c.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/pipeline/api/c/c_program.h"

namespace brigade {
namespace {

using testing::HasSubstr;

class CUploads : public testing::Test {
 protected:
  CUploads() { setenv("BRIGADE_HOST_DEVICE", "delay_us=1000", 1); }
  ~CUploads() override {
    unsetenv("BRIGADE_HOST_DEVICE");
    brigade_uploads_close(uploads_);
  }
  void open(const Opened& opened) {
    ASSERT_EQ(brigade_run_uploads(opened.run, "host", BRIGADE_PIN_AUTO, &uploads_), BRIGADE_OK)
        << last_error();
  }
  brigade_status copy(brigade_batch* batch, const brigade_tensor& tensor, void* to,
                      brigade_upload** upload) {
    const brigade_tensor* const one = &tensor;
    const auto address = reinterpret_cast<std::uint64_t>(to);
    return brigade_uploads_copy(uploads_, batch, &one, &address, 1, nullptr, upload);
  }

  brigade_uploads* uploads_ = nullptr;
  brigade_upload* upload_ = nullptr;
};

TEST_F(CUploads, RefuseWhatIsNotOfTheBatch) {
  const Opened opened(
      "stages:\n  numbers: {producer: synthetic, batch: 8, params: {count: 100, shape: [3], vary: "
      "true}}\n  train: {consumer: application, from: numbers}\n");
  open(opened);
  brigade_batch* const batch = opened.take();
  brigade_tensor data{};
  data.size = sizeof data;
  ASSERT_EQ(brigade_batch_find(batch, "data", &data), BRIGADE_OK);
  std::vector<std::int64_t> to(100);
  EXPECT_EQ(copy(batch, data, to.data(), &upload_), BRIGADE_ERROR_ARGUMENT);
  EXPECT_EQ(last_error(), "tensor \"data\" is ragged: pass its rows (brigade_batch_row)");
  ASSERT_EQ(brigade_batch_row(batch, 1, "data", &data), BRIGADE_OK);
  EXPECT_EQ(copy(batch, data, to.data(), &upload_), BRIGADE_OK) << last_error();
  brigade_upload_close(upload_);
  EXPECT_EQ(to[0], 1);
  const std::uint64_t bytes = data.bytes;
  for (const std::uint64_t more : {std::uint64_t{1} << 20, ~std::uint64_t{0}}) {
    data.bytes = more;
    EXPECT_EQ(copy(batch, data, to.data(), &upload_), BRIGADE_ERROR_ARGUMENT) << more;
    EXPECT_EQ(last_error(), "tensor \"data\" does not belong to this batch");
  }
  data.bytes = bytes;
  data.data = to.data();
  EXPECT_EQ(copy(batch, data, to.data(), &upload_), BRIGADE_ERROR_ARGUMENT);
  EXPECT_EQ(last_error(), "tensor \"data\" does not belong to this batch");
  data.size = 1;
  EXPECT_EQ(copy(batch, data, to.data(), &upload_), BRIGADE_ERROR_ARGUMENT);
  EXPECT_EQ(brigade_uploads_copy(uploads_, batch, nullptr, nullptr, 1, nullptr, &upload_),
            BRIGADE_ERROR_ARGUMENT);
  EXPECT_EQ(last_error(), "tensors is NULL");
  brigade_batch_release(batch);
}

TEST_F(CUploads, SayWhichDeviceCannotBeHad) {
  const Opened opened(graph_yaml());
  const auto fails = [&](const char* device, std::int32_t pin = BRIGADE_PIN_AUTO) {
    const brigade_status status = brigade_run_uploads(opened.run, device, pin, &uploads_);
    EXPECT_EQ(uploads_, nullptr);
    return std::pair(status, last_error());
  };
  EXPECT_EQ(fails("cpu"),
            std::pair(brigade_status{BRIGADE_ERROR_ARGUMENT},
                      std::string("device cpu: expected a device to copy to: cuda:N or host")));
  EXPECT_EQ(fails("host", 7).second, "pin is 7, expected BRIGADE_PIN_...");
  setenv("BRIGADE_HOST_DEVICE", "slow", 1);
  EXPECT_EQ(fails("host").first, BRIGADE_ERROR_DEVICE);
  setenv("BRIGADE_HOST_DEVICE", "pinned=0", 1);
  EXPECT_EQ(fails("host", BRIGADE_PIN_YES).first, BRIGADE_ERROR_DEVICE);
  EXPECT_THAT(last_error(), HasSubstr("pinned memory of"));
  brigade_upload_close(nullptr);
  brigade_uploads_close(nullptr);
  EXPECT_STREQ(brigade_uploads_report(nullptr), "");
  EXPECT_EQ(brigade_upload_wait(nullptr), BRIGADE_ERROR_ARGUMENT);
}

TEST(COutputs, AreAskedWithoutAWait) {
  const Opened opened(
      "stages:\n  numbers: {producer: synthetic, params: {count: 3}}\n  slow: {transform: delay, "
      "from: numbers, batch: 1, params: {ms: 30}}\n"
      "  train: {consumer: application, from: slow, hold: 1}\n");
  int batches = 0;
  bool waited = false;
  for (;;) {
    brigade_batch* batch = nullptr;
    const brigade_status status =
        brigade_output_poll_at(opened.train, BRIGADE_ANY_EPOCH, __FILE__, __LINE__, &batch);
    if (status == BRIGADE_END) break;
    waited = waited || status == BRIGADE_TIMEOUT;
    if (status == BRIGADE_TIMEOUT) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (status == BRIGADE_TIMEOUT) continue;
    ASSERT_EQ(status, BRIGADE_OK) << last_error();
    if (++batches == 2) {  // the only place is held: no wait for that, either
      brigade_batch* more = nullptr;
      EXPECT_EQ(brigade_output_poll_at(opened.train, BRIGADE_ANY_EPOCH, __FILE__, __LINE__, &more),
                BRIGADE_TIMEOUT);
    }
    brigade_batch_release(batch);
  }
  EXPECT_EQ(batches, 3);
  EXPECT_TRUE(waited);
  EXPECT_EQ(brigade_run_wait(opened.run), BRIGADE_OK);
}

}  // namespace
}  // namespace brigade
