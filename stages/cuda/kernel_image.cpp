#include "stages/cuda/kernel_image.h"

#ifdef BRIGADE_KERNEL_IMAGE

asm(R"(
  .section .rodata
  .balign 16
  .hidden brigade_kernel_image
  .global brigade_kernel_image
brigade_kernel_image:
  .incbin ")" BRIGADE_KERNEL_IMAGE R"("
  .hidden brigade_kernel_image_end
  .global brigade_kernel_image_end
brigade_kernel_image_end:
  .text
)");

extern "C" {
extern const std::byte brigade_kernel_image[];
extern const std::byte brigade_kernel_image_end[];
}

#endif

namespace brigade::cuda {

std::span<const std::byte> kernel_image() {
#ifdef BRIGADE_KERNEL_IMAGE
  return {brigade_kernel_image, brigade_kernel_image_end};
#else
  return {};
#endif
}

}  // namespace brigade::cuda
