#include "pipeline/cli/templates/template_text.h"

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

TEST(TemplateText, ListsNamesThatYamlReadsBack) {
  EXPECT_EQ(yaml_list({"cat", "a, b]", "$"}), R"(["cat", "a, b]", "$$"])");
  EXPECT_EQ(yaml_list({}), "");
  EXPECT_EQ(yaml_list({"cat", "\xFF"}), "");
  EXPECT_NE(yaml_list(std::vector<std::string>(100, "cat")), "");
  EXPECT_EQ(yaml_list(std::vector<std::string>(101, "cat")), "");
}

}  // namespace
}  // namespace brigade
