#include "device/gpu_report.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fstream>

#include <brigade/text.h>
#include "base/units.h"

namespace brigade {
namespace {

// Of cuda.h.
constexpr int kHostRegisterSupported = 99;
constexpr int kReadOnlyHostRegisterSupported = 113;
constexpr int kMpsEnabled = 133;

std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return std::string(trim(line));
}

int lanes(const std::string& text) {
  int count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

/// An idle GPU slows down, but keeps its lanes.
void look_at_link(const std::string& folder, GpuFacts& gpu) {
  const std::string speed = line_of(folder + "/max_link_speed");
  const int width = lanes(line_of(folder + "/current_link_width"));
  const int width_max = lanes(line_of(folder + "/max_link_width"));
  if (speed.empty() || width == 0) return;
  gpu.link_is_narrow = width < width_max;
  gpu.link = concat(speed, " x", width, gpu.link_is_narrow ? concat(" of x", width_max) : "");
}

/// What an older driver does not know, it does not have.
bool has(const CudaCalls& calls, int attribute, int device) {
  int value = 0;
  return calls.device_attribute(&value, attribute, device) == cuda_status::kSuccess && value != 0;
}

GpuFacts facts_of(const CudaCalls& calls, int ordinal, const std::string& devices) {
  GpuFacts gpu;
  int device = 0;
  if (calls.device(&device, ordinal) != cuda_status::kSuccess) return gpu;
  std::array<char, 256> text{};
  if (calls.device_name(text.data(), static_cast<int>(text.size()), device) ==
      cuda_status::kSuccess)
    gpu.name = text.data();
  std::size_t bytes = 0;
  if (calls.device_memory(&bytes, device) == cuda_status::kSuccess) gpu.memory_bytes = bytes;
  if (calls.pci_bus_id(text.data(), static_cast<int>(text.size()), device) ==
      cuda_status::kSuccess) {
    gpu.pci = text.data();
    std::string folder = gpu.pci;  // the system writes it in small letters
    std::transform(folder.begin(), folder.end(), folder.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    look_at_link(concat(devices, '/', folder), gpu);
  }
  gpu.has_mps = has(calls, kMpsEnabled, device);
  gpu.pins = has(calls, kHostRegisterSupported, device);
  gpu.pins_read_only = has(calls, kReadOnlyHostRegisterSupported, device);
  return gpu;
}

}  // namespace

GpuReport report_gpus(const std::string& library, const std::string& devices) {
  GpuReport report;
  const auto driver = CudaDriver::open(kCudaDriverMin, library);
  if (!driver) {
    report.problem = driver.error().message;
    report.has_driver = !report.problem.starts_with(kNoCudaDriver);
    return report;
  }
  report.driver_version = (*driver)->version();
  for (int ordinal = 0; ordinal < (*driver)->devices(); ++ordinal)
    report.gpus.push_back(facts_of((*driver)->calls(), ordinal, devices));
  return report;
}

std::string gpu_text(const GpuFacts& gpu) {
  std::vector<std::string> parts{gpu.name, format_size(gpu.memory_bytes), gpu.pci};
  if (!gpu.link.empty()) parts.push_back(gpu.link);
  if (gpu.has_mps) parts.push_back("MPS");
  return join(parts, ", ");
}

}  // namespace brigade
