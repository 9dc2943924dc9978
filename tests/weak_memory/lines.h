#pragma once

// Which lines are explored, within which bounds, and which orders are made weaker.

#include <cstdint>
#include <vector>

#include "tests/weak_memory/line_program.h"

namespace brigade::weak_memory {

struct LineCase {
  const char* name = "";
  ByStage<support::StageSpec> stages = {};
  std::uint64_t samples = 0;
  Bounds bounds = {};
  std::uint64_t states_min = 0;  // fewer: it does not do what it is meant to
  Script script = {};            // of a supervisor
  WakeOrder order = WakeOrder::by_sleeper;
};

/// Of every test run, and larger ones.
std::vector<LineCase> small_lines();
std::vector<LineCase> large_lines();

/// With a replica that dies after any step and is repaired, or with a stop, in every test run.
std::vector<LineCase> supervised_lines();
/// The same with a mistake, which must be noticed.
std::vector<LineCase> mistaken_lines();

/// Where a weaker order is looked for: small, and together they use every access.
std::vector<LineCase> probe_lines(WakeOrder order);

/// An order one step weaker (or more) than in transports/.
struct WeakerCase {
  Weaker weaker;
  bool noticed;  // false: the order in transports/ is stronger than these lines need
};
std::vector<WeakerCase> weaker_orders(WakeOrder order);

/// The same of what a repair and a stop do.
std::vector<LineCase> supervised_probe_lines();
std::vector<WeakerCase> weaker_orders_of_the_supervisor();

/// A program that takes tasks as they finish.
std::vector<LineCase> any_order_lines();
std::vector<WeakerCase> weaker_orders_of_a_program();

Report explore(const LineCase& line, const Weaker& weaker, std::uint64_t states_max, Trace trace);

}  // namespace brigade::weak_memory
