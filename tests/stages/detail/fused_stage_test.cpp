#include "stages/detail/fused_stage.h"

#include <gtest/gtest.h>

#include "tests/support/message_of.h"

namespace brigade {
namespace {

struct SizeParams {
  std::int64_t size = 4;
};
struct NoParams {};
struct Nothing : Stage {
  Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
};

/// decode: path -> image [size, size]; flip: image -> image; label_of: label -> one_hot [size].
StageTypes example_types() {
  StageTypes types;
  types.add<Nothing>(Contract<SizeParams>("decode", "")
                         .transform()
                         .param("size", &SizeParams::size, 1, 99, "side")
                         .input("path", {u8}, {up_to(100)}, "")
                         .rest_passes()
                         .reports("bytes", Combine::sum, "read")
                         .outputs([](const SizeParams& p, const Ports&) -> Result<Ports> {
                           return Ports{{"image", u8, {p.size, p.size}}};
                         }));
  types.add<Nothing>(Contract<NoParams>("flip", "")
                         .transform()
                         .input("image", {u8}, {any_size, any_size}, "")
                         .rest_passes()
                         .may_drop()
                         .outputs([](const NoParams&, const Ports& in) -> Result<Ports> {
                           return Ports{*in.find("image")};
                         }));
  types.add<Nothing>(Contract<SizeParams>("one_hot", "")
                         .transform()
                         .param("size", &SizeParams::size, 1, 99, "classes")
                         .input("label", {i64}, {}, "")
                         .rest_passes()
                         .outputs([](const SizeParams& p, const Ports&) -> Result<Ports> {
                           return Ports{{"one_hot", f32, {p.size}}};
                         }));
  types.add<Nothing>(Contract<NoParams>("whole", "").transform().takes(Takes::batches));
  types.add<Nothing>(Contract<NoParams>("end", "").consumer());
  return types;
}

class Fused : public testing::Test {
 protected:
  Result<StageType> make(const std::vector<std::string>& names) const {
    std::vector<const StageType*> links;
    for (const std::string& name : names) links.push_back(types_.find(name));
    return fused_type(links);
  }

  StageTypes types_ = example_types();
  Ports in_ = {{"path", u8, {up_to(50)}}, {"label", i64, {}}, {"key", i64, {}}};
};

TEST_F(Fused, IsCalledByItsTypes) {
  EXPECT_EQ(make({"decode", "flip", "flip"})->contract.type, "[decode, flip, flip]");
  const std::vector<const StageType*> links(3, types_.find("flip"));
  EXPECT_EQ(fused_link_names(links), (std::vector<std::string>{"flip", "flip#2", "flip#3"}));
}

TEST_F(Fused, TakesWhatTheFirstTakesAndMayWhatAnyMay) {
  const StageContract contract = make({"decode", "flip"})->contract;
  EXPECT_EQ(contract.kind, StageKind::transform);
  EXPECT_EQ(contract.inputs.size(), 1u);
  EXPECT_EQ(contract.inputs[0].name, "path");
  EXPECT_TRUE(contract.may_drop);
  EXPECT_TRUE(contract.rest_passes);
  EXPECT_EQ(contract.reports[0].name, "decode.bytes");
}

TEST_F(Fused, EachLinkHasItsParameters) {
  const StageContract contract = make({"decode", "one_hot", "one_hot"})->contract;
  ASSERT_EQ(contract.params.size(), 3u);
  EXPECT_EQ(contract.params[2].name, "one_hot#2.size");
  const auto params = contract.make_params();
  ASSERT_TRUE(set_param(contract.params[0], params.get(), ParamValue::scalar("28")));
  ASSERT_TRUE(set_param(contract.params[2], params.get(), ParamValue::scalar("10")));
  EXPECT_FALSE(set_param(contract.params[1], params.get(), ParamValue::scalar("100")));
  const auto& links = static_cast<const FusedParams*>(params.get())->links;
  EXPECT_EQ(static_cast<const SizeParams*>(links[0].get())->size, 28);
  EXPECT_EQ(static_cast<const SizeParams*>(links[1].get())->size, 4);
  EXPECT_EQ(static_cast<const SizeParams*>(links[2].get())->size, 10);
}

TEST_F(Fused, GivesWhatIsThereAtTheEnd) {
  const StageType fused = make({"decode", "one_hot", "flip"}).value();
  const auto params = fused.contract.make_params();
  const FusedPorts ports = fused_ports(fused, params.get(), in_).value();
  EXPECT_EQ(ports.links[0].in, in_);
  EXPECT_EQ(ports.links[1].in, (Ports{{"image", u8, {4, 4}}, in_.tensors[1], in_.tensors[2]}));
  EXPECT_EQ(ports.links[2].own, (Ports{{"image", u8, {4, 4}}}));
  // What came in and passes all of them is the runtime's to carry.
  EXPECT_EQ(ports.out, (Ports{{"image", u8, {4, 4}}, {"one_hot", f32, {4}}}));
  EXPECT_EQ(fused.contract.outputs(params.get(), in_, {}).value(), ports.out);
  // The label is used up inside, so that it does not travel on.
  EXPECT_EQ(fused.contract.named_inside, (std::vector<std::string>{"label", "image"}));
}

TEST_F(Fused, ALinkThatDoesNotFitIsNamed) {
  const StageType fused = make({"flip", "decode"}).value();
  const auto params = fused.contract.make_params();
  const auto ports = fused_ports(fused, params.get(), Ports{{"image", u8, {4, 4}}});
  ASSERT_FALSE(ports);
  EXPECT_EQ(ports.error().message,
            "decode: it needs path u8[<=100], but its input is image u8[4, 4]");
}

TEST_F(Fused, WhatCannotBeChainedIsAnError) {
  types_.add<Nothing>(Contract<NoParams>("twice", "").transform().expand([](const NoParams&) {
    return std::uint64_t{2};
  }));
  for (const auto& [name, error] :
       {std::pair(
            "end",
            "\"end\" is a consumer; a list of types in one stage must contain only transforms"),
        {"whole",
         "\"flip\" takes one sample at a time and \"whole\" takes batches; give each its own "
         "stage"},
        {"twice",
         "\"twice\" changes the number of samples and cannot be one of several types in a stage; "
         "give it its own stage"}})
    EXPECT_EQ(message_of(make({"flip", name})), error);
}

TEST_F(Fused, IsFoundByItsName) {
  StageType fused;
  EXPECT_EQ(find_type_or_fused(types_, "flip", fused), types_.find("flip"));
  ASSERT_EQ(find_type_or_fused(types_, "[decode, flip]", fused), &fused);
  EXPECT_EQ(fused.contract.type, "[decode, flip]");
  EXPECT_EQ(fused.contract.hash(), make({"decode", "flip"})->contract.hash());
  EXPECT_EQ(find_type_or_fused(types_, "[decode, unknown]", fused), nullptr);
  EXPECT_EQ(find_type_or_fused(types_, "[flip, end]", fused), nullptr);
}

}  // namespace
}  // namespace brigade
