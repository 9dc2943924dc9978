// Actors and a learner, in the smallest world there is: ten levers, one of which pays best. The
// learner (this program) publishes its policy in shared memory; actors pull levers by the newest
// one and send what came of it. What is more than kAgeMax updates old is counted and left out.
//
//   actors [stages.act.batch=4000]    settings of the graph, as after `--set`

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
using Shares = std::array<double, kPays.size()>;

Shares softmax(const SharedTensor& policy) {
  Shares shares;
  double sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i)
    sum += shares[i] = std::exp(policy.as<float>()[i]);
  for (double& share : shares) share /= sum;
  return shares;
}

struct NoParams {};

Contract<NoParams> actor_contract() {
  return Contract<NoParams>("actor", "Pulls levers according to the newest policy.")
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
    const Shares shares = softmax(policy_);
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

void learn(const SharedTensor& policy, const Row& played) {
  const Shares shares = softmax(policy);
  for (std::size_t pull = 0; pull < kPulls; ++pull) {
    const double step = kLearningRate / kPulls * (played["rewards"].as<float>()[pull] - 0.5);
    const auto lever = static_cast<std::size_t>(played["levers"].as<std::int64_t>()[pull]);
    for (std::size_t i = 0; i < shares.size(); ++i)
      policy.as<float>()[i] += static_cast<float>(step * ((i == lever) - shares[i]));
  }
}

Result<bool> play(const App& app, const std::vector<std::string>& settings) {
  BRIGADE_ASSIGN(Pipeline graph, Pipeline::from_file("actors.yaml", {"cpp.yaml"}));
  for (const std::string& setting : settings) graph.set(setting);
  BRIGADE_ASSIGN(const std::unique_ptr<Run> run, graph.quiet().start(app));
  BRIGADE_ASSIGN(const SharedTensor policy, run->shared("policy"));
  BRIGADE_ASSIGN(const SharedTensor updates, run->shared("version"));
  policy.set_initialised();  // all zeros; the actors have waited for it
  int used = 0, stale = 0;
  for (const Batch& batch : run->output("learn")) {
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      const bool old = used - batch.row(i)["version"].as<std::int64_t>()[0] > kAgeMax;
      ++(old ? stale : used);
      if (!old) learn(policy, batch.row(i));
      updates.atomic<std::int64_t>() = used;
    }
  }
  BRIGADE_TRY(run->wait());
  const Shares shares = softmax(policy);
  const auto best = static_cast<int>(std::ranges::max_element(shares) - shares.begin());
  std::printf("%d trajectories, %d of them too old; the best lever is %d, pulled with %.2f\n",
              used + stale, stale, best, shares[6]);
  return used + stale == 4000 && best == 6;
}

}  // namespace

int main(int argc, char** argv) {
  StageTypes types;
  types.add<Actor>(actor_contract());
  const App app(argc, argv, types);  // first: workers are this program, too, and stay in here
  return exit_code(play(app, {argv + 1, argv + argc}));
}
