#include "pipeline/cli/templates/project_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// That they compile and pass their own tests: examples/installed_test.py.

std::vector<std::string> paths_of(const std::vector<ProjectFile>& files) {
  std::vector<std::string> paths;
  for (const ProjectFile& file : files) paths.push_back(file.path);
  return paths;
}

TEST(ProjectTemplateTest, EveryNameIsFilledIn) {
  const auto stage = stage_project("random_noise");
  const auto program = program_project("trainer");
  EXPECT_THAT(paths_of(stage), ElementsAre("CMakeLists.txt", "random_noise.h", "random_noise.cpp",
                                           "random_noise_test.cpp", "random_noise.yaml"));
  EXPECT_THAT(paths_of(program), ElementsAre("CMakeLists.txt", "main.cpp", "trainer.yaml"));
  for (const auto& files : {stage, program})
    for (const ProjectFile& file : files) {
      EXPECT_THAT(file.text, Not(HasSubstr("@"))) << file.path;
    }
  EXPECT_THAT(stage[2].text, HasSubstr("class RandomNoise : public Stage {"));
  EXPECT_THAT(stage[4].text, HasSubstr("plugin: build/random_noise.so"));
}

TEST(ProjectTemplateTest, SaysWhatANameIs) {
  for (const char* good : {"a", "noise", "random_noise2"})
    EXPECT_EQ(project_name_problem(good), "") << good;
  for (const std::string bad : {"", "Noise", "2x", "_x", "a-b", "a/b", "../a", "a b",
                                "a_name_of_more_than_forty_bytes_is_refused"})
    EXPECT_THAT(project_name_problem(bad), HasSubstr("expected a name")) << bad;
}

}  // namespace
}  // namespace brigade
