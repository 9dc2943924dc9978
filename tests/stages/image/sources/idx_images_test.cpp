#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/image/image_stages.h"
#include "tests/support/images/idx_files.h"
#include "tests/support/only_type.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;

// The plan carries the outputs of the check; the file has other sizes by now.
TEST(IdxImagesTest, AFileThatChangedAfterTheCheckIsRefused) {
  const TemporaryFolder folder;
  const std::string images = folder.write("images", idx_header(8, {3, 2, 2}) + counting_bytes(12));
  const StageType& type = only_type<add_idx_images>();
  const auto params = make_params(type.contract, {{"images", images}}).value();
  OpenContext context;
  context.params_data = params.get();
  context.params_type = type.contract.params_type;
  context.outputs = {{"image", u8, {28, 28, 1}}};
  EXPECT_EQ(type.make_producer()->open(context).error().message,
            images + ": changed after the graph was checked: it now contains image u8[2, 2, 1]");
}

}  // namespace
}  // namespace brigade
