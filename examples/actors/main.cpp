// Actors and a learner, in the smallest world there is: ten levers, one of which pays best. The
// learner (this program) publishes its policy in shared memory; actors pull levers by the newest
// one and send what came of it. What a policy of more than kAgeMax updates ago has made is left
// out.
//
//   actors actors.yaml cpp.yaml

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>

#include <brigade/pipeline.h>

namespace {

using namespace brigade;  // an example is all about it

constexpr std::size_t kLevers = 10;
constexpr std::array<double, kLevers> kPays = {0.1, 0.2, 0.3, 0.1, 0.5, 0.2, 0.9, 0.4, 0.3, 0.1};
constexpr std::int64_t kPulls = 8;
constexpr std::int64_t kAgeMax = 100;
constexpr double kLearningRate = 0.5;
using Shares = std::array<double, kLevers>;

Shares softmax(std::span<const float> policy) {
  Shares shares;
  double sum = 0;
  for (std::size_t i = 0; i < kLevers; ++i) sum += shares[i] = std::exp(policy[i]);
  for (double& share : shares) share /= sum;
  return shares;
}

struct ActorParams {};

Contract<ActorParams> actor_contract() {
  return Contract<ActorParams>("actor", "Pulls levers by the newest policy.")
      .transform()
      .outputs([](const ActorParams&, const Ports&) -> Result<Ports> {
        return Ports{TensorType{"levers", DType::i64, {kPulls}},
                     TensorType{"rewards", DType::f32, {kPulls}},
                     TensorType{"version", DType::i64, {}}};
      });
}

class Actor : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    BRIGADE_ASSIGN(policy_, context.shared("policy"));
    BRIGADE_ASSIGN(version_, context.shared("version"));
    return {};
  }
  Result<Next> process(const Inputs& in, Outputs& out) override {
    out["version"].as<std::int64_t>()[0] = version_.atomic<std::int64_t>().load();
    const Shares shares = softmax(policy_.as<float>());
    Philox random = in.random();  // the episode's own, whoever of the actors plays it
    for (std::size_t pull = 0; pull < kPulls; ++pull) {
      std::size_t lever = 0;
      for (double left = random.uniform() - shares[0]; left > 0 && lever + 1 < kLevers;)
        left -= shares[++lever];
      out["levers"].as<std::int64_t>()[pull] = static_cast<std::int64_t>(lever);
      out["rewards"].as<float>()[pull] = random.chance(kPays[lever]) ? 1 : 0;
    }
    return Next::emit;
  }

 private:
  SharedTensor policy_;
  SharedTensor version_;
};

void learn(std::span<float> policy, const Row& played) {
  const auto levers = played["levers"].as<std::int64_t>();
  const auto rewards = played["rewards"].as<float>();
  Shares step{};
  for (std::size_t pull = 0; pull < kPulls; ++pull) {
    const Shares shares = softmax(policy);
    for (std::size_t i = 0; i < kLevers; ++i)
      step[i] +=
          (rewards[pull] - 0.5) * ((static_cast<std::int64_t>(i) == levers[pull]) - shares[i]);
  }
  for (std::size_t i = 0; i < kLevers; ++i)
    policy[i] += static_cast<float>(kLearningRate / kPulls * step[i]);
}

Result<bool> play(const App& app, Pipeline graph) {
  BRIGADE_ASSIGN(const std::unique_ptr<Run> run, graph.quiet().start(app));
  BRIGADE_ASSIGN(const SharedTensor shared_policy, run->shared("policy"));
  BRIGADE_ASSIGN(const SharedTensor shared_version, run->shared("version"));
  const auto policy = shared_policy.as<float>();
  const auto version = shared_version.atomic<std::int64_t>();
  std::fill(policy.begin(), policy.end(), 0.0F);
  shared_policy.set_initialised();  // the actors have waited for it
  std::int64_t used = 0;
  std::int64_t stale = 0;
  for (const Batch& batch : run->output("learn")) {
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      const Row played = batch.row(i);
      if (version.load() - played["version"].as<std::int64_t>()[0] > kAgeMax) {
        ++stale;
        continue;
      }
      learn(policy, played);
      ++version;
      ++used;
    }
  }
  BRIGADE_TRY(run->wait());
  const auto best = std::max_element(policy.begin(), policy.end()) - policy.begin();
  std::printf("%d trajectories, %d of them too old; the best lever is %d, pulled with %.2f\n",
              static_cast<int>(used + stale), static_cast<int>(stale), static_cast<int>(best),
              softmax(policy)[6]);
  return used + stale == 4000 && best == 6;
}

}  // namespace

int main(int argc, char** argv) {
  StageTypes types;
  types.add<Actor>(actor_contract());
  const App app(argc, argv, types);  // first: workers are this program, too, and stay in here
  auto graph = Pipeline::from_file("actors.yaml", {"cpp.yaml"});
  const auto played = graph ? play(app, *graph) : Result<bool>(graph.error());
  if (!played) std::cerr << played.error().message << '\n';
  return played && *played ? 0 : 1;
}
