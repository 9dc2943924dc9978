#include "pipeline/records/device_rings.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "device/host_device.h"
#include "pipeline/plan/ring_layout.h"
#include "pipeline/records/shared_shape.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

constexpr std::uint64_t kRingSlots = 8;

/// Two stages: `up` writes an image on the device of the host, and labels beside it.
struct OnHostDevice : testing::Test {
  Plan plan;
  std::vector<std::byte> host_memory;
  ByStage<SlotRing> rings{2};

  void SetUp() override {
    unsetenv(kHostDeviceVariable);
    for (const char* name : {"up", "down"}) {
      PlanStage stage;
      stage.name = name;
      stage.device = "host";
      plan.stages.push_back(stage);
    }
    PlanRing& ring = plan.stages[0].ring;
    ring.slots = kRingSlots;
    TensorType image{"image", f32, {Dim(1000)}};
    image.on_device = true;
    ring.tensors = ring_tensors(Ports{{"label", i64, {}}, image});
    lay_out_ring(ring);
    host_memory.resize(ring.bytes);
    rings[0] = SlotRing(host_memory.data(), kRingSlots, slot_arrays(ring));
  }
  void TearDown() override { unsetenv(kHostDeviceVariable); }

  const PlanRing& ring() const { return plan.stages[0].ring; }
  OwnedFd make() const { return make_device_memory(plan.stages[0]).value(); }
  /// By a process that inherits the descriptor.
  std::unique_ptr<DeviceRings> map(const OwnedFd& memory, StageNumber by) {
    const DeviceGrant grant{0, fcntl(memory.get(), F_DUPFD_CLOEXEC, 0), by == 0};
    return DeviceRings::map(plan, plan.stages[by], {&grant, 1}).value();
  }
  DeviceAddress image_of(std::uint64_t number) const {
    return static_cast<DeviceAddress>(reinterpret_cast<std::uintptr_t>(rings[0].slot(1, number)));
  }
  Result<void> write(DeviceRings& to, const std::vector<std::byte>& what) {
    to.place(rings);
    return to.device()->copy_to_device(image_of(3), what.data(), what.size(), to.stream());
  }
  std::vector<std::byte> read(DeviceRings& from) {
    from.place(rings);
    std::vector<std::byte> found(ring().tensors[1].slot_bytes);
    EXPECT_TRUE(
        from.device()->copy_to_host(found.data(), image_of(3), found.size(), from.stream()).ok());
    EXPECT_TRUE(from.wait().ok());
    return found;
  }

  const std::vector<std::byte> bytes = std::vector<std::byte>(4000, std::byte{9});
  const std::vector<std::byte> zeros = std::vector<std::byte>(4000);
};

TEST_F(OnHostDevice, WhatLiesThereTakesNoRoomInTheRing) {
  EXPECT_EQ(ring().bytes, 4096u + 4096u);  // headers, labels
  EXPECT_EQ(ring().device_bytes, kRingSlots * 4000);
  EXPECT_EQ(ring().tensors[1].offset, 0u);
  const OwnedFd memory = make();
  const auto writer = map(memory, 0);
  writer->place(rings);
  EXPECT_EQ(rings[0].slot(0, 1), host_memory.data() + 4096 + 8);
  EXPECT_EQ(rings[0].slot(1, kRingSlots + 1), rings[0].slot(1, 0) + 4000);
}

/// Where the descriptor is not kept, memory is made anew for who comes next, and has nothing.
TEST_F(OnHostDevice, WhatWasWrittenIsThereAsLongAsTheDescriptorIsKept) {
  for (const bool kept : {true, false}) {
    OwnedFd memory = make();
    {
      const auto writer = map(memory, 0);
      ASSERT_TRUE(write(*writer, bytes).ok());
      ASSERT_TRUE(writer->wait().ok());
    }
    if (!kept) memory = make();
    EXPECT_EQ(read(*map(memory, 1)), kept ? bytes : zeros);
  }
}

/// The wait is what a finished task says: without it a reader sees what was there before.
TEST_F(OnHostDevice, IsWrittenWhenTheWaitIsOverAndNotBefore) {
  for (const bool waits : {true, false}) {
    const OwnedFd memory = make();
    setenv(kHostDeviceVariable, waits ? "delay_us=20000" : "delay_us=1000000", 1);
    const auto writer = map(memory, 0);
    setenv(kHostDeviceVariable, "", 1);
    ASSERT_TRUE(write(*writer, bytes).ok());
    if (waits) {
      ASSERT_TRUE(writer->wait().ok());
    }
    EXPECT_EQ(read(*map(memory, 1)), waits ? bytes : zeros);
  }
}

TEST_F(OnHostDevice, WhatCannotBeHadIsSaid) {
  plan.stages[0].device = "cpu";
  EXPECT_EQ(message_of(make_device_memory(plan.stages[0])),
            "`memory: device` needs a GPU, and `device: cpu` found none (see nvidia-smi); omit "
            "`memory:`");
  plan.stages[0].device = "host";
  const DeviceGrant closed{0, -1, false};
  EXPECT_EQ(
      message_of(DeviceRings::map(plan, plan.stages[1], {&closed, 1})),
      "the device memory of \"up\": device host: cannot map shared memory: Bad file descriptor");
  const DeviceGrant nobodys{StageNumber(7), -1, false};
  EXPECT_EQ(message_of(DeviceRings::map(plan, plan.stages[1], {&nobodys, 1})),
            "a grant names the unknown stage 7");
  EXPECT_EQ(DeviceRings::map(plan, plan.stages[1], {}).value(), nullptr);
}

TEST_F(OnHostDevice, ALostDeviceEndsTheWait) {
  setenv(kHostDeviceVariable, "fail_copy=0", 1);
  const OwnedFd memory = make();
  const auto writer = map(memory, 0);
  ASSERT_TRUE(write(*writer, bytes).ok());
  EXPECT_EQ(message_of(writer->wait()), "device host is lost: a copy failed midway");
}

}  // namespace
}  // namespace brigade
