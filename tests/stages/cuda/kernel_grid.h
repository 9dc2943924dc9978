#pragma once

// The kernels' grid, thread by thread, on the CPU: what nvcc makes of their code for the host.

namespace brigade::cuda {

/// As the driver would launch it: `arguments` are the addresses of a kernel's. False: there is no
/// such kernel.
bool run_kernel_grid(const char* kernel, unsigned grid_x, unsigned grid_y, unsigned block_x,
                     void** arguments);

}  // namespace brigade::cuda
