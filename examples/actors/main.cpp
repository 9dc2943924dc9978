// Actors and a learner, in the smallest world there is: ten levers, one of which pays best. The
// learner (this program) publishes its policy in shared memory; actors pull levers by the newest
// one and send what came of it. What is more than kAgeMax updates old is left out.
//
//   actors

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include <brigade/pipeline.h>

namespace {

using namespace brigade;  // an example is all about it

constexpr std::array kPays = {0.1, 0.2, 0.3, 0.1, 0.5, 0.2, 0.9, 0.4, 0.3, 0.1};
constexpr std::int64_t kPulls = 8, kAgeMax = 100;
constexpr double kLearningRate = 0.5;

std::array<double, kPays.size()> softmax(std::span<const float> policy) {
  std::array<double, kPays.size()> shares;
  double sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) sum += shares[i] = std::exp(policy[i]);
  for (double& share : shares) share /= sum;
  return shares;
}

struct NoParams {};

Contract<NoParams> actor_contract() {
  return Contract<NoParams>("actor", "Pulls levers by the newest policy.")
      .transform()
      .outputs([](const NoParams&, const Ports&) -> Result<Ports> {
        return Ports{{"levers", i64, {kPulls}}, {"rewards", f32, {kPulls}}, {"version", i64, {}}};
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
    const auto shares = softmax(policy_.as<float>());
    Philox random = in.random();  // the episode's own, whoever of the actors plays it
    for (std::size_t pull = 0; pull < kPulls; ++pull) {
      std::size_t lever = 0;
      for (double left = random.uniform() - shares[0]; left > 0 && lever + 1 < shares.size();)
        left -= shares[++lever];
      out["levers"].as<std::int64_t>()[pull] = static_cast<std::int64_t>(lever);
      out["rewards"].as<float>()[pull] = random.chance(kPays[lever]) ? 1 : 0;
    }
    return Next::emit;
  }

 private:
  SharedTensor policy_, version_;
};

void learn(std::span<float> policy, const Row& played) {
  const auto shares = softmax(policy);
  for (std::size_t pull = 0; pull < kPulls; ++pull) {
    const double step = kLearningRate / kPulls * (played["rewards"].as<float>()[pull] - 0.5);
    const auto lever = static_cast<std::size_t>(played["levers"].as<std::int64_t>()[pull]);
    for (std::size_t i = 0; i < shares.size(); ++i)
      policy[i] += static_cast<float>(step * ((i == lever) - shares[i]));
  }
}

Result<bool> play(const App& app) {
  BRIGADE_ASSIGN(Pipeline graph, Pipeline::from_file("actors.yaml", {"cpp.yaml"}));
  BRIGADE_ASSIGN(const std::unique_ptr<Run> run, graph.quiet().start(app));
  BRIGADE_ASSIGN(const SharedTensor shared_policy, run->shared("policy"));
  BRIGADE_ASSIGN(const SharedTensor shared_version, run->shared("version"));
  const auto policy = shared_policy.as<float>();
  const auto version = shared_version.atomic<std::int64_t>();
  std::ranges::fill(policy, 0.0F);
  shared_policy.set_initialised();  // the actors have waited for it
  int used = 0, stale = 0;
  for (const Batch& batch : run->output("learn")) {
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      const Row played = batch.row(i);
      const bool old = version.load() - played["version"].as<std::int64_t>()[0] > kAgeMax;
      ++(old ? stale : used);
      if (old) continue;
      learn(policy, played);
      ++version;
    }
  }
  BRIGADE_TRY(run->wait());
  const auto best = static_cast<int>(std::ranges::max_element(policy) - policy.begin());
  std::printf("%d trajectories, %d of them too old; the best lever is %d, pulled with %.2f\n",
              used + stale, stale, best, softmax(policy)[6]);
  return used + stale == 4000 && best == 6;
}

}  // namespace

int main(int argc, char** argv) {
  StageTypes types;
  types.add<Actor>(actor_contract());
  const App app(argc, argv, types);  // first: workers are this program, too, and stay in here
  return exit_code(play(app));
}
