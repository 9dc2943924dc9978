#include "device/host_device_options.h"

#include <gtest/gtest.h>

#include <brigade/text.h>
#include "tests/support/message_of.h"

namespace brigade {
namespace {

TEST(HostDeviceOptions, AreReadFromText) {
  const auto options =
      HostDeviceOptions::parse("delay_us=500 memory=64MiB pinned=0 fail_copy=7 checks=0").value();
  EXPECT_EQ(options.delay, std::chrono::microseconds(500));
  EXPECT_EQ(options.memory_bytes, 64u << 20);
  EXPECT_EQ(options.pinned_bytes, 0u);
  EXPECT_EQ(options.fail_copy, 7u);
  EXPECT_FALSE(options.checks);
  EXPECT_FALSE(options.read_only_refused);
  EXPECT_TRUE(HostDeviceOptions::parse(" read_only_refused ").value().read_only_refused);
  EXPECT_TRUE(HostDeviceOptions::parse("early").value().early);
  for (const char* const bad : {"delay", "fail_copy=", "read_only_refused=1", "x=1", "early=1"})
    EXPECT_EQ(message_of(HostDeviceOptions::parse(bad)),
              concat("BRIGADE_HOST_DEVICE: expected delay_us=N, memory=SIZE, pinned=SIZE, "
                     "fail_copy=N, events=N, checks=0, read_only_refused or early, found ",
                     quote(bad)));
}

}  // namespace
}  // namespace brigade
