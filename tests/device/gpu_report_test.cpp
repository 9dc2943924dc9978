#include "device/gpu_report.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/device/fake_cuda/fake_cuda.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

GpuReport fake_report(const char* settings, const std::string& devices = "/nowhere") {
  setenv("FAKE_CUDA", settings, 1);
  return report_gpus(fake_cuda_path(), devices);
}

TEST(GpuReport, ShowsEachGpuAsItsDriverAndTheSystemDo) {
  const TemporaryFolder folder;
  const std::filesystem::path at = folder.path() / "0000:0a:00.0";
  std::filesystem::create_directory(at);
  std::ofstream(at / "max_link_speed") << "16.0 GT/s PCIe\n";
  std::ofstream(at / "max_link_width") << "16\n";
  std::ofstream(at / "current_link_width") << "16\n";
  const GpuReport report = fake_report("devices=2 mps=1", folder.path().string());
  EXPECT_EQ(report.problem, "");
  EXPECT_EQ(report.driver_version, 13000);
  ASSERT_EQ(report.gpus.size(), 2u);
  EXPECT_EQ(gpu_text(report.gpus[1]), "Fake GPU, 1.0 GiB, 0000:0A:00.0, 16.0 GT/s PCIe x16, MPS");
  EXPECT_TRUE(report.gpus[0].pins && report.gpus[0].pins_read_only);
  EXPECT_FALSE(report.gpus[0].link_is_narrow || report.gpus[0].is_part());
  std::ofstream(at / "current_link_width") << "4\n";
  const GpuFacts narrow = fake_report("mig=1 read_only_refused=1", folder.path().string()).gpus[0];
  EXPECT_TRUE(narrow.link_is_narrow && narrow.is_part());
  EXPECT_FALSE(narrow.pins_read_only || narrow.has_mps);
  EXPECT_EQ(gpu_text(narrow),
            "Fake GPU MIG 1g.5gb, 1.0 GiB, 0000:0A:00.0, 16.0 GT/s PCIe x4 of x16");
  EXPECT_EQ(fake_cuda_left(), 0);  // no context
}

TEST(GpuReport, AnOlderDriverHasNotWhatItDoesNotKnow) {
  const GpuReport report = fake_report("driver=12000 mps=1");
  EXPECT_FALSE(report.gpus.at(0).has_mps);
  EXPECT_EQ(report.gpus[0].link, "");
}

TEST(GpuReport, SaysWhyThereIsNone) {
  EXPECT_FALSE(report_gpus("libcuda_of_nowhere.so.1").has_driver);
  const GpuReport old = fake_report("driver=11000");
  EXPECT_TRUE(old.has_driver);
  EXPECT_EQ(old.problem,
            "the NVIDIA driver supports CUDA 11.0, expected CUDA 11.4 or later; install a newer "
            "driver (`nvidia-smi` shows its version)");
  EXPECT_TRUE(fake_report("devices=0").problem.empty());
  EXPECT_TRUE(fake_report("devices=0").gpus.empty());
}

}  // namespace
}  // namespace brigade
