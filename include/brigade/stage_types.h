#pragma once

// The list of stage types that a program knows: the contract and a factory of each. Plain calls
// fill it (no static registration): the core's list is in stages/builtin.cpp; an embedding program
// adds its types before it creates its App, so that its workers know them too.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <brigade/contract.h>
#include <brigade/stage.h>

namespace brigade {

struct StageType {
  StageContract contract;
  /// Name of the module with the body, or (for a plugin's type) the absolute path of the library
  /// with contract and body; empty: it is in this program.
  std::string module;
  std::function<std::unique_ptr<Stage>()> make_stage;
  std::function<std::unique_ptr<Producer>()> make_producer;  ///< set for indexed producers
  bool indexed = false;                                      ///< body derives from Producer
  std::vector<const StageType*>
      links;  ///< of a fused stage (fused_stage.h): its transforms, in order
};

class StageTypes {
 public:
  /// S derives from Stage or Producer and is default-constructible; its parameters come with
  /// open().
  template <class S, class P>
  StageTypes& add(const Contract<P>& contract) {
    StageType type;
    type.contract = contract.erased();
    if constexpr (std::is_base_of_v<Producer, S>) {
      type.indexed = true;
      type.make_producer = [] { return std::make_unique<S>(); };
    } else {
      type.make_stage = [] { return std::make_unique<S>(); };
    }
    return add(std::move(type));
  }

  /// A type whose body is in a module, opened only by the process that runs it.
  template <class P>
  StageTypes& add_from_module(const Contract<P>& contract, std::string module,
                              bool indexed = false) {
    StageType type;
    type.contract = contract.erased();
    type.module = std::move(module);
    type.indexed = indexed;
    return add(std::move(type));
  }

  StageTypes& add(StageType type) {
    types_.push_back(std::move(type));
    return *this;
  }

  /// Appends the types of another list; find() returns the first of a name.
  StageTypes& append(const StageTypes& others) {
    types_.insert(types_.end(), others.types_.begin(), others.types_.end());
    return *this;
  }

  /// Null if the name does not exist. Points into this list, like all().
  const StageType* find(std::string_view name) const& {
    for (const StageType& type : types_)
      if (type.contract.type == name) return &type;
    return nullptr;
  }
  const StageType* find(std::string_view name) && = delete;
  const std::vector<StageType>& all() const& { return types_; }
  const std::vector<StageType>& all() && = delete;

 private:
  std::vector<StageType> types_;
};

}  // namespace brigade
