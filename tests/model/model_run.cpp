// model_run NAME...: explores the scenarios or negative controls of these names, and tells a
// shortest sequence of steps to what breaks. Without a name: lists them.

#include <cstdio>
#include <string>

#include "tests/model/protocol.h"
#include "tests/model/scenario.h"

namespace {

using brigade::model::Scenario;

std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> all = brigade::model::small_scenarios();
  for (const auto& more :
       {brigade::model::large_scenarios(), brigade::model::negative_controls()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

void run(const Scenario& scenario) {
  const auto report = check(scenario, 100'000'000, brigade::model::Trace::kShortest);
  std::printf("%-28s %9llu states %6.2f s  %s\n", scenario.name,
              static_cast<unsigned long long>(report.states), report.seconds,
              report.violation.empty() ? "holds" : report.violation.c_str());
  for (const std::string& line : report.trace) std::printf("  %s\n", line.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  int found = 0;
  for (const Scenario& scenario : all_scenarios()) {
    if (argc == 1) std::printf("%-32s %s\n", scenario.name, scenario.about);
    for (int i = 1; i < argc; ++i) {
      if (std::string(argv[i]) != scenario.name) continue;
      run(scenario);
      ++found;
    }
  }
  return argc > 1 && found == 0 ? 2 : 0;
}
