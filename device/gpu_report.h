#pragma once

// A report of NVIDIA's driver and its GPUs, for `brigade doctor` and
// `brigade plan`. Makes no context: a GPU in use is not affected.

#include <cstdint>
#include <string>
#include <vector>

#include <brigade/export.h>
#include "device/cuda_driver.h"

namespace brigade {

struct GpuFacts {
  std::string name;  ///< "NVIDIA A100-SXM4-40GB"; of a part of a GPU with " MIG 1g.5gb" behind it
  std::uint64_t memory_bytes = 0;
  std::string pci;              ///< "0000:01:00.0"
  std::string link;             ///< "16.0 GT/s PCIe x16"; empty: not known
  bool link_is_narrow = false;  ///< fewer lanes than card and slot have
  bool has_mps = false;         ///< processes share it through MPS
  bool pins = true;             ///< memory of the host
  bool pins_read_only = true;   ///< also what may only be read

  bool is_part() const { return name.find(" MIG ") != std::string::npos; }
};

struct GpuReport {
  std::string problem;     ///< why the driver cannot be used; empty: it can
  bool has_driver = true;  ///< its library was found
  int driver_version = 0;  ///< 13000 is CUDA 13.0's
  std::vector<GpuFacts> gpus;
};

/// `devices`: the folder in which the system shows devices by their PCI address.
BRIGADE_API GpuReport report_gpus(const std::string& library = kCudaLibrary,
                                  const std::string& devices = "/sys/bus/pci/devices");

/// "Fake GPU, 1.0 GiB, 0000:01:00.0, 16.0 GT/s PCIe x16, MPS".
BRIGADE_API std::string gpu_text(const GpuFacts& gpu);

}  // namespace brigade
