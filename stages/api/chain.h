#pragma once

// `transform: [a, {b: {...}}]`: several transforms as one stage type, run one after the other in
// one process, without a hop between them. Its contract is made from theirs: it takes what the
// first takes, and what later ones need and nobody before them makes; it gives what is there after
// the last. Parameters and reports of a link are called LINK.NAME, a link being its type's name
// ("flip#2" where it is the second of that name).
//
// Pure functions, any thread.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stages/api/stage_types.h"

namespace brigade {

/// The parameter struct of a chain: each link's own.
struct ChainParams {
  std::vector<std::shared_ptr<void>> links;
};

/// Names of the links: "flip", "flip#2".
BRIGADE_API std::vector<std::string> chain_link_names(const std::vector<const StageType*>& links);

/// The type of a chain of at least one transform; called "[a, b]". Errors: a type that is no
/// transform, that reads headers of files or several sources, that numbers its outputs anew, or one
/// that takes batches beside one that takes samples. `links` must outlive it.
BRIGADE_API Result<StageType> chain_type(std::vector<const StageType*> links);

/// The tensors on the way through a chain.
struct ChainPorts {
  struct Link {
    Ports in;   ///< what it sees
    Ports own;  ///< what it writes
  };
  std::vector<Link> links;
  Ports out;  ///< what links have written and is there at the end
};

/// For these parameters (ChainParams) and inputs. Errors name the link.
BRIGADE_API Result<ChainPorts> chain_ports(const StageType& chain, const void* params,
                                           const Ports& in);

/// The type of that name, or the chain "[a, b]", which is made in `chain`; null when there is none.
BRIGADE_API const StageType* find_type_or_chain(const StageTypes& types, std::string_view name,
                                                StageType& chain);

}  // namespace brigade
