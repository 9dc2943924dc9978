#include "pipeline/config/language/class_source.h"

#include <gtest/gtest.h>

#include "pipeline/config/language/program_reads.h"
#include "pipeline/config/language/spec_parser.h"
#include "tests/support/config/reads_yaml.h"

namespace brigade {
namespace {

constexpr const char* kTables =
    "stages:\n"
    "  numbered: {producer: image_list, params: {file: n.csv}}\n"
    "  val: {producer: image_list, params: {file: v.csv, labels: names}}\n"
    "  named: {producer: image_list, params: {file: m.csv, labels: names, classes: c.txt}}\n"
    "  all: {producer: image_list, params: {file: t.csv, labels: names}}\n"
    "  dt: {transform: decode_image, from: all}\n"
    "  dv: {transform: decode_image, from: val}\n";

class ClassSource : public ReadsYaml {
 protected:
  GraphSpec spec(const std::string& more) {
    return parse_graph(read(kTables + more), diagnostics_);
  }
};

TEST_F(ClassSource, IsTheOneThatIsTrainedOnOrTheFirst) {
  EXPECT_EQ(first_class_source(spec("")), "val");
  EXPECT_EQ(first_class_source(spec("  learn: {consumer: torch_classifier, join: epochs, from: "
                                    "{test: dv, train: dt}}\n")),
            "all");
  EXPECT_EQ(first_class_source(spec("  mixed: {mix: {numbered: 1, all: 1}}\n"
                                    "  learn: {consumer: c, join: epochs, from: {train: mixed, "
                                    "test: dv}}\n")),
            "all");
  EXPECT_EQ(first_class_source(parse_graph(read("stages:\n  a: {producer: p}\n"), diagnostics_)),
            "");
}

TEST_F(ClassSource, StaysWhereAProgramReadsAnotherSource) {
  GraphSpec graph = spec("  learn: {consumer: c, from: {train: dt, test: dv}, join: epochs}\n");
  graph.class_source = first_class_source(graph);
  const GraphSpec of_val = read_by_program(graph, {"dv"}, diagnostics_);
  ASSERT_EQ(of_val.stages.size(), 4u);
  EXPECT_EQ(of_val.stages.at(1).name.value, "all");
  EXPECT_TRUE(of_val.stages.at(1).only_names);
  EXPECT_FALSE(of_val.stages.at(0).only_names);
  EXPECT_EQ(read_by_program(graph, {"numbered"}, diagnostics_).stages.size(), 2u);
  for (const StageSpec& stage : read_by_program(graph, {"dt"}, diagnostics_).stages)
    EXPECT_FALSE(stage.only_names) << stage.name.value;
}

}  // namespace
}  // namespace brigade
