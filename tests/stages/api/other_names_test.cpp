#include "stages/api/other_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade {
namespace {

using testing::HasSubstr;
using testing::Optional;

TEST(OtherNames, OperationsOfTorchvisionAndAlbumentations) {
  for (const char* name : {"HorizontalFlip", "RandomHorizontalFlip", "A.HorizontalFlip",
                           "transforms.v2.RandomHorizontalFlip", "horizontal_flip"})
    EXPECT_EQ(operation_elsewhere(name), "random_horizontal_flip") << name;
  EXPECT_EQ(operation_elsewhere("Normalize"), std::nullopt);
  EXPECT_EQ(operation_elsewhere("flip"), std::nullopt) << "which may be several";
}

TEST(OtherNames, StagesThatDoTheSame) {
  EXPECT_THAT(stage_elsewhere("RandomResizedCrop"),
              Optional(HasSubstr("{operations: [random_resized_crop]}`; `transform: decode_image` "
                                 "does it while it decodes")));
  EXPECT_EQ(stage_elsewhere("RandomRotation"),
            "write `transform: augment` with `params: {operations: [random_rotation]}`");
  EXPECT_EQ(stage_elsewhere("ImageFolder"), "write `producer: image_folder`");
  EXPECT_THAT(stage_elsewhere("ToTensor"), Optional(HasSubstr("`layout`, `mean` and `std`")));
  EXPECT_THAT(stage_elsewhere("parquet"), Optional(HasSubstr("reads it with pyarrow")));
  EXPECT_EQ(stage_elsewhere("nonsense"), std::nullopt);
  EXPECT_EQ(stage_elsewhere(""), std::nullopt);
}

}  // namespace
}  // namespace brigade
