#pragma once

#include <cstdint>

namespace brigade::stepping {

/// How much to explore. The short form is part of every test run, the long one, with
/// BRIGADE_LONG_STEPS, of `./dev chaos`.
struct Effort {
  int detours;                         ///< without a death
  int detours_around_death;            ///< and with one
  std::uint64_t runs_max;              ///< of one enumeration
  std::uint64_t runs_of_second_order;  ///< at least, where the first wake order took them all
  std::uint64_t random_runs;           ///< of one scenario
};

#ifdef BRIGADE_LONG_STEPS
inline constexpr Effort kEffort = {3, 2, 300'000, 300'000, 200'000};
#else
inline constexpr Effort kEffort = {2, 1, 12'000, 3'000, 1'000};
#endif

}  // namespace brigade::stepping
