#include "tests/pipeline/api/c/c_program.h"

namespace brigade {
brigade_app* this_program = nullptr;
}  // namespace brigade

// Workers are this program again.
int main(int argc, char** argv) {
  const brigade_app_options options{sizeof options, argc, argv, nullptr};
  if (brigade_app_open(&options, &brigade::this_program) != BRIGADE_OK) return 2;
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  brigade_app_close(brigade::this_program);
  return failed;
}
