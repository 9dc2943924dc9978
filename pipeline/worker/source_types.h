#pragma once

// The stage types that a worker looks up when a sample has failed, to name it as its source does:
// those of the program, and of the plugins of the sources. Listed and opened only then. One thread.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <brigade/stage_types.h>
#include "pipeline/worker/module_loader.h"
#include "pipeline/worker/plugin_loader.h"
#include "pipeline/worker/replica/replica.h"

namespace brigade {

class SourceTypes {
 public:
  using List = std::function<StageTypes()>;

  /// `libraries`: files of plugins; one that cannot be opened gives no names.
  SourceTypes(List program, std::vector<std::string> libraries)
      : program_(std::move(program)), libraries_(std::move(libraries)) {}

  /// This outlives the replica.
  void name_samples(ReplicaSetup& setup) {
    setup.find_type = [this](const PlanStage& source) { return find(source.type); };
    setup.make_source = [](const StageType& source) { return producer_maker(source)(); };
  }

 private:
  const StageType* find(const std::string& type) {
    if (!types_) {
      types_ = program_();
      for (const std::string& library : libraries_)
        if (auto opened = open_plugin(library)) types_->append(*opened);
    }
    return types_->find(type);
  }

  const List program_;
  const std::vector<std::string> libraries_;
  std::optional<StageTypes> types_;
};

}  // namespace brigade
