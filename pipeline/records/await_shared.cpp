#include "pipeline/records/await_shared.h"

#include <chrono>
#include <cstring>
#include <thread>

#include <brigade/text.h>

namespace brigade {
namespace {

constexpr auto kLook = std::chrono::milliseconds(1);
constexpr int kLooksUntilSaid = 5000;

}  // namespace

bool await_shared_tensors(const std::vector<SharedTensor>& tensors,
                          const std::function<bool()>& ended,
                          const std::function<void(const std::string&)>& waits) {
  for (const SharedTensor& tensor : tensors)
    if (tensor.fill()) std::memset(tensor.data(), 0, tensor.bytes());
  for (const SharedTensor& tensor : tensors) {
    for (int looks = 0; !tensor.fill() && !tensor.initialised(); ++looks) {
      if (ended()) return false;
      if (looks == kLooksUntilSaid)
        waits(concat("waits for shared tensor ", quote(tensor.name()), " to be initialized"));
      std::this_thread::sleep_for(kLook);
    }
  }
  return true;
}

}  // namespace brigade
