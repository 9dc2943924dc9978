#pragma once

// `transform: [a, {b: {...}}]`: several transforms as one stage type, run one after the
// other in one process, without a hop between them. Its contract is made from theirs: its
// inputs are those of the first, and those that later ones need and no earlier one makes;
// its outputs are the tensors after the last. Parameters and reports of a link are called
// LINK.NAME, where LINK is the type's name ("flip#2" for the second of that name).
//
// Pure functions, any thread.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/stage_types.h>

namespace brigade {

/// The parameter struct of a fused stage: each link's own.
struct FusedParams {
  std::vector<std::shared_ptr<void>> links;
};

/// Names of the links: "flip", "flip#2".
BRIGADE_API std::vector<std::string> fused_link_names(const std::vector<const StageType*>& links);

/// The type of a fused stage of at least one transform; called "[a, b]". Errors: a type that is no
/// transform, that reads headers of files or several sources, that is a flat_map, or one
/// that takes batches beside one that takes samples. `links` must outlive it.
BRIGADE_API Result<StageType> fused_type(std::vector<const StageType*> links);

/// The types whose bodies do the work: the links of a fused stage, else the type itself.
inline std::vector<const StageType*> parts_of(const StageType& type) {
  return type.links.empty() ? std::vector<const StageType*>{&type} : type.links;
}

/// The tensors on the way through a fused stage.
struct FusedPorts {
  struct Link {
    Ports in;   ///< what it sees
    Ports own;  ///< what it writes
  };
  std::vector<Link> links;
  Ports out;  ///< what links have written and is there at the end
};

/// For these parameters (FusedParams) and inputs. Errors name the link.
BRIGADE_API Result<FusedPorts> fused_ports(const StageType& fused, const void* params,
                                           const Ports& in);

/// The type of that name, that of mixtures, or the fused stage "[a, b]", which is made in `fused`;
/// null when there is none.
BRIGADE_API const StageType* find_type_or_fused(const StageTypes& types, std::string_view name,
                                                StageType& fused);

}  // namespace brigade
