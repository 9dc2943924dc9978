#include "pipeline/cli/commands/template_text.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(TemplateText, IsFilledOnce) {
  EXPECT_EQ(fill_template("@a@ and @b@, @c@ @", {{"a", "@b@"}, {"b", "2"}}), "@b@ and 2, @c@ @");
}

TEST(TemplateText, HoldsNamesAsYamlReadsThem) {
  EXPECT_EQ(yaml_text("a$b\"c"), R"("a$$b\"c")");
  EXPECT_EQ(comment_text("cat"), "cat");
  EXPECT_EQ(comment_text("c\nat"), R"("c\nat")");
  EXPECT_EQ(name_text("pets-2"), "pets-2");
  EXPECT_EQ(name_text("null"), "\"null\"");
}

}  // namespace
}  // namespace brigade
