#pragma once

// The fat binary of stages/cuda's kernels: machine code for each generation of
// GPUs, and PTX for future ones, which the driver compiles. Part of the library.

#include <cstddef>
#include <span>

namespace brigade::cuda {

/// Empty: the library was built where there was no nvcc.
std::span<const std::byte> kernel_image();

}  // namespace brigade::cuda
