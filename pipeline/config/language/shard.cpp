#include "pipeline/config/language/shard.h"

#include <charconv>

#include <brigade/text.h>
#include "pipeline/config/language/launchers.h"

namespace brigade {

namespace {

class Resolver {
 public:
  Resolver(const ShardSpec& spec, const Environment& environment, Diagnostics& diagnostics)
      : spec_(spec), environment_(environment), diagnostics_(diagnostics) {}

  std::optional<Shard> run() {
    const auto before = diagnostics_.errors();
    const bool rank_given = spec_.rank && spec_.rank->value != ShardSpec::kAuto;
    const bool world_given = spec_.world && spec_.world->value != ShardSpec::kAuto;
    Shard shard;
    shard.uneven = spec_.uneven;
    if (rank_given != world_given) {
      diagnostics_.error(*spec_.span, "`shard`: rank and world are given together or not at all",
                         {"write both, or `shard: auto`"});
      return std::nullopt;
    }
    if (rank_given) {
      shard.rank = spec_.rank->value;
      shard.world = spec_.world->value;
    } else {
      ask_launcher(shard);
    }
    if (diagnostics_.errors() != before) return std::nullopt;
    if (shard.rank < shard.world) return shard;
    diagnostics_.error(place(rank_given),
                       shard.world == 0
                           ? concat("`shard`: there are 0 processes", said_by_)
                           : concat("`shard`: rank ", shard.rank, " of ", shard.world,
                                    " processes: ranks go from 0 to ", shard.world - 1, said_by_));
    return std::nullopt;
  }

 private:
  Span place(bool given) const {
    if (given) return spec_.rank->span;
    return spec_.span ? *spec_.span : Span{};
  }

  void ask_launcher(Shard& shard) {
    if (environment_ == nullptr) return;
    for (const Launcher& launcher : kLaunchers) {
      const auto rank = environment_(launcher.rank);
      const auto world = environment_(launcher.world);
      if (&launcher == &kLaunchers.front() && rank.has_value() != world.has_value())
        return half_said(launcher, rank.has_value());
      if (!rank || !world) continue;
      said_by_ = concat(" (environment: ", launcher.rank, ", ", launcher.world, ")");
      read(launcher.rank, *rank, shard.rank);
      read(launcher.world, *world, shard.world);
      return;
    }
  }

  // Whoever sets one of these means several processes; all of them reading everything is not what
  // was meant. Slurm, on the other hand, leaves SLURM_NTASKS in shells that are none of its tasks.
  void half_said(const Launcher& launcher, bool rank) {
    diagnostics_.error(
        place(false),
        concat("`shard: auto`: the environment has ", rank ? launcher.rank : launcher.world,
               " and no ", rank ? launcher.world : launcher.rank),
        {"set both or neither, or write `shard: {rank: R, world: N}`"});
  }

  void read(const char* name, const std::string& text, std::uint64_t& out) {
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec == std::errc() && parsed.ptr == end && number <= kRanksMax) {
      out = number;
      return;
    }
    diagnostics_.error(place(false),
                       concat("`shard: auto`: the environment's ", name, " is ", quote(text),
                              ", expected a whole number up to ", kRanksMax),
                       {"unset it, or write `shard: {rank: 0, world: 1}`"});
  }

  static constexpr std::uint64_t kRanksMax = 1 << 20;

  const ShardSpec& spec_;
  const Environment& environment_;
  Diagnostics& diagnostics_;
  std::string said_by_;
};

}  // namespace

std::optional<Shard> resolve_shard(const ShardSpec& spec, const Environment& environment,
                                   Diagnostics& diagnostics) {
  return Resolver(spec, environment, diagnostics).run();
}

}  // namespace brigade
