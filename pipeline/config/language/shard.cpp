#include "pipeline/config/language/shard.h"

#include <charconv>

#include <brigade/text.h>
#include "pipeline/config/language/launchers.h"

namespace brigade {

namespace {

constexpr std::uint64_t kRanksMax = 1 << 20;

std::optional<std::uint64_t> parse_rank(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number > kRanksMax) return std::nullopt;
  return number;
}

std::string variables_of(const Launcher& launcher) {
  return concat(launcher.rank, ", ", launcher.world);
}

class Resolver {
 public:
  Resolver(const ShardSpec& spec, const Environment& environment,
           const std::optional<ProgramRank>& program, Diagnostics& diagnostics)
      : spec_(spec), environment_(environment), program_(program), diagnostics_(diagnostics) {}

  std::optional<FoundShard> run() {
    const auto before = diagnostics_.errors();
    const bool rank_given = spec_.rank && spec_.rank->value != ShardSpec::kAuto;
    const bool world_given = spec_.world && spec_.world->value != ShardSpec::kAuto;
    found_.shard.uneven = spec_.uneven;
    if (rank_given != world_given) {
      diagnostics_.error(*spec_.span, "`shard`: expected both rank and world, or neither",
                         {"write both, or `shard: auto`"});
      return std::nullopt;
    }
    const bool program_knows = program_ && program_->world != 0;
    if (program_knows && (program_->over_graph || !rank_given)) {
      ask_program();
    } else if (rank_given) {
      take(spec_.rank->value, spec_.world->value, "shard");
    } else {
      ask_launchers();
    }
    if (diagnostics_.errors() != before) return std::nullopt;
    if (found_.shard.rank < found_.shard.world) return std::move(found_);
    say_outside(rank_given);
    return std::nullopt;
  }

 private:
  Span place(bool given) const {
    if (given) return spec_.rank->span;
    return spec_.span ? *spec_.span : Span{};
  }

  void take(std::uint64_t rank, std::uint64_t world, std::string by) {
    found_.shard.rank = rank;
    found_.shard.world = world;
    found_.origin.by = std::move(by);
  }

  void say_outside(bool given) {
    const Shard& shard = found_.shard;
    const std::string& by = found_.origin.by;
    const std::string from = by == "shard"     ? ""
                             : by == "program" ? " (set by the program)"
                                               : concat(" (environment: ", by, ")");
    diagnostics_.error(place(given),
                       shard.world == 0
                           ? concat("`shard`: expected at least 1 process, found 0", from)
                           : concat("`shard`: rank ", shard.rank, " of ", shard.world,
                                    " processes: ranks go from 0 to ", shard.world - 1, from));
  }

  void ask_program() {
    take(program_->rank, program_->world, "program");
    if (program_->over_graph || environment_ == nullptr) return;
    for (const Launcher& launcher : kLaunchers)
      if (has_both(launcher)) return note_unlike(launcher);
  }

  void ask_launchers() {
    if (environment_ == nullptr) return;
    bool found = false;
    for (const Launcher& launcher : kLaunchers) {
      if (&launcher == &kLaunchers.front() && !check_half(launcher)) return;
      if (!has_both(launcher)) continue;
      if (found) {
        note_unlike(launcher);
      } else {
        take(read(launcher.rank), read(launcher.world), variables_of(launcher));
      }
      found = true;
    }
  }

  bool has_both(const Launcher& launcher) const {
    return environment_(launcher.rank).has_value() && environment_(launcher.world).has_value();
  }

  /// Of those that do not count; what is no number says nothing.
  void note_unlike(const Launcher& launcher) {
    const auto rank = parse_rank(environment_(launcher.rank).value_or(""));
    const auto world = parse_rank(environment_(launcher.world).value_or(""));
    const Shard& shard = found_.shard;
    if (rank && world && (*rank != shard.rank || *world != shard.world))
      found_.origin.unlike.push_back(
          concat(variables_of(launcher), ": rank ", *rank, " of ", *world));
  }

  // Such a variable means several processes; all of them reading everything is not what was meant.
  // Slurm, on the other hand, leaves SLURM_NTASKS in shells that are none of its tasks.
  bool check_half(const Launcher& launcher) {
    const auto rank = environment_(launcher.rank);
    const auto world = environment_(launcher.world);
    if (rank.has_value() == world.has_value() || (world && parse_rank(*world) == 1)) return true;
    found_.origin.half = rank ? launcher.rank : launcher.world;
    if (program_) return true;
    diagnostics_.error(place(false),
                       concat("`shard: auto`: the environment sets ", found_.origin.half,
                              " but not ", rank ? launcher.world : launcher.rank),
                       {"set both or neither, or write `shard: {rank: R, world: N}`"});
    return false;
  }

  std::uint64_t read(const char* name) {
    const std::string text = environment_(name).value_or("");
    if (const auto number = parse_rank(text)) return *number;
    diagnostics_.error(place(false),
                       concat("`shard: auto`: the environment's ", name, " is ", quote(text),
                              ", expected a whole number up to ", kRanksMax),
                       {"unset the variable, or write `shard: {rank: 0, world: 1}`"});
    return 0;
  }

  const ShardSpec& spec_;
  const Environment& environment_;
  const std::optional<ProgramRank>& program_;
  Diagnostics& diagnostics_;
  FoundShard found_;
};

}  // namespace

std::optional<FoundShard> resolve_shard(const ShardSpec& spec, const Environment& environment,
                                        const std::optional<ProgramRank>& program,
                                        Diagnostics& diagnostics) {
  return Resolver(spec, environment, program, diagnostics).run();
}

}  // namespace brigade
