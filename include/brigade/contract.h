#pragma once

// The contract of a stage type: its name, inputs, outputs and parameters. It needs no heavy
// library, so that `brigade check` loads none. Heavy stages have it in a separate file,
// NAME_contract.cpp.
//
//   Contract<FlipParams> flip_contract() {
//     return Contract<FlipParams>("flip", "Mirrors an image left to right.")
//         .transform()
//         .param("chance", &FlipParams::chance, 0.0, 1.0, "probability per sample")
//         .input("image", {u8}, {any_size, any_size, any_size}, "HWC")
//         .rest_passes()
//         .outputs([](const FlipParams&, const Ports& in) -> Result<Ports> {
//           return Ports{*in.find("image")};
//         });
//   }

#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <brigade/stage_contract.h>

namespace brigade {

template <class P>
class Contract {
 public:
  Contract(std::string type, std::string help) {
    erased_.type = std::move(type);
    erased_.help = std::move(help);
    erased_.params_type = typeid(P).name();
    erased_.make_params = [] { return std::static_pointer_cast<void>(std::make_shared<P>()); };
    erased_.outputs = [](const void*, const Ports&, const FileMetadata&) -> Result<Ports> {
      return Ports{};
    };
  }

  Contract& producer() { return set(&StageContract::kind, StageKind::producer); }
  Contract& transform() { return set(&StageContract::kind, StageKind::transform); }
  Contract& consumer() { return set(&StageContract::kind, StageKind::consumer); }
  Contract& takes(Takes what) { return set(&StageContract::takes, what); }
  Contract& example(std::string yaml) { return set(&StageContract::example, std::move(yaml)); }

  /// Binds a member; its value in P{} is the default.
  template <class T>
  Contract& param(std::string name, T P::*member, std::string help) {
    ParamSpec spec;
    spec.name = std::move(name);
    spec.help = std::move(help);
    spec.type = param_type_of<T>();
    spec.default_value = print_param(P{}.*member);
    spec.set = [member](void* params, const ParamValue& value) {
      return parse_param(value, static_cast<P*>(params)->*member);
    };
    spec.get = [member](const void* params) {
      return print_param(static_cast<const P*>(params)->*member);
    };
    erased_.params.push_back(std::move(spec));
    return *this;
  }
  /// A number (or list of numbers) with an inclusive range.
  template <class T>
  Contract& param(std::string name, T P::*member, double minimum, double maximum,
                  std::string help) {
    param(std::move(name), member, std::move(help));
    erased_.params.back().minimum = minimum;
    erased_.params.back().maximum = maximum;
    return *this;
  }
  /// One of several names, each standing for a value.
  template <class T>
  Contract& choice(std::string name, T P::*member, std::vector<std::pair<std::string, T>> choices,
                   std::string help);
  /// The parameter just declared has no default.
  Contract& required() {
    erased_.params.back().required = true;
    erased_.params.back().default_value = {};
    return *this;
  }
  /// Passes the header of the file named by the parameter just declared (an InputPath) to
  /// outputs(); for InputPaths as "PARAM.NAME", for InputFiles as "PARAM.0", ... (at most
  /// kMetadataFilesMax).
  Contract& file_header() {
    erased_.metadata.push_back(erased_.params.back().name);
    return *this;
  }

  /// Declares an input tensor; no dtypes: any dtype.
  Contract& input(std::string name, std::vector<DType> dtypes, std::vector<Dim> shape,
                  std::string help) {
    erased_.inputs.push_back(
        {std::move(name), std::move(dtypes), false, std::move(shape), std::move(help)});
    return *this;
  }
  Contract& one_of(std::vector<TensorPattern> group) {
    erased_.one_of.push_back(std::move(group));
    return *this;
  }
  Contract& rest_passes() { return set(&StageContract::rest_passes, true); }
  Contract& several_inputs(std::vector<std::string> ports = {}) {
    erased_.source_ports = std::move(ports);
    erased_.several_inputs = true;
    return *this;
  }
  Contract& may_drop() { return set(&StageContract::may_drop, true); }
  /// Numbering::expand: process() writes `count(const P&)` slots per sample, Outputs::slot(i).
  template <class Fn>
  Contract& expand(Fn count) {
    return renumbers(Numbering::expand, count);
  }
  /// Numbering::flat_map: process() writes up to `most(const P&)` slots per sample.
  template <class Fn>
  Contract& flat_map(Fn most) {
    return renumbers(Numbering::flat_map, most);
  }
  /// For a producer: `fn(const P&, const FileMetadata&)` returns its number of samples, as a number
  /// or a SampleCount (optional: nothing if unknown).
  template <class Fn>
  Contract& counts(Fn fn) {
    erased_.samples = [fn](const void* params,
                           const FileMetadata& metadata) -> std::optional<SampleCount> {
      return fn(*static_cast<const P*>(params), metadata);
    };
    return *this;
  }
  /// For a producer with the parameters `classes` (a file) and `names` (a list): `fn(const P&)`
  /// returns the classes by number, as StageContract::named_classes does.
  template <class Fn>
  Contract& named_classes(Fn fn) {
    return set(&StageContract::named_classes, of_params(fn));
  }
  /// Declares that outputs depend on Inputs::random() if `fn(const P&)` returns true.
  template <class Fn>
  Contract& draws(Fn fn) {
    return set(&StageContract::draws, of_params(fn));
  }
  /// `most(const P&)`: most bytes that process() allocates, controlled by the parameter `by`.
  template <class Fn>
  Contract& private_bytes(std::string by, Fn most) {
    erased_.private_bytes_by = std::move(by);
    return set(&StageContract::private_bytes, of_params(most));
  }
  /// `names(const P&)`: the inputs that process() reads by device_tensor() if they are on a device,
  /// and the outputs that it writes that way under `memory: device`.
  template <class Fn>
  Contract& reads_on_device(Fn names) {
    return set(&StageContract::reads_on_device, of_params(names));
  }
  template <class Fn>
  Contract& writes_on_device(Fn names) {
    return set(&StageContract::writes_on_device, of_params(names));
  }
  /// `names(const P&)`: the inputs that process() copies to the device (input_memory, `pin:`).
  template <class Fn>
  Contract& uploads(Fn names) {
    return set(&StageContract::uploads, of_params(names));
  }
  /// The runtime caches its samples; `room(const P&)`: the requested capacity, as an optional.
  template <class Fn>
  Contract& caches(Fn room) {
    erased_.cache = true;
    return counts([room](const P& params, const FileMetadata&) { return room(params); });
  }
  Contract& stateful() { return set(&StageContract::stateful, true); }
  /// For a consumer: Stage::save() returns its state, and open() resumes from it.
  Contract& saves() { return set(&StageContract::saves, true).stateful(); }
  /// For a consumer: process() may keep() batches after it returns, `hold:` of them at once.
  Contract& holds() { return set(&StageContract::holds, true).takes(Takes::batches); }
  /// Same, but only if `device:` is not the CPU; otherwise Inputs::may_keep() is false.
  Contract& holds_for_device() {
    erased_.holds_for_device = true;
    return holds();
  }
  Contract& reports(std::string name, Combine combine, std::string help, bool progress = false) {
    erased_.reports.push_back({std::move(name), combine, progress, std::move(help)});
    return *this;
  }

  /// `fn(const P&, const Ports& in)` or `fn(const P&, const Ports& in, const FileMetadata&)`
  /// returns the output tensors that this type names (the runtime adds those that pass), or an
  /// error in the user's terms. Consumers return empty Ports and use it as their check.
  template <class Fn>
  Contract& outputs(Fn fn) {
    erased_.outputs = [fn](const void* params, const Ports& in,
                           const FileMetadata& metadata) -> Result<Ports> {
      const P& typed = *static_cast<const P*>(params);
      if constexpr (std::is_invocable_v<Fn, const P&, const Ports&, const FileMetadata&>)
        return fn(typed, in, metadata);
      else
        return fn(typed, in);
    };
    return *this;
  }

  const StageContract& erased() const { return erased_; }

 private:
  template <class T>
  Contract& set(T StageContract::*member, std::type_identity_t<T> value) {
    erased_.*member = std::move(value);
    return *this;
  }
  template <class Fn>
  static auto of_params(Fn fn) {
    return [fn](const void* params) { return fn(*static_cast<const P*>(params)); };
  }
  template <class Fn>
  Contract& renumbers(Numbering numbering, Fn count) {
    erased_.numbering = numbering;
    return set(&StageContract::outputs_per_input, of_params(count));
  }

  StageContract erased_;
};

template <class P>
template <class T>
Contract<P>& Contract<P>::choice(std::string name, T P::*member,
                                 std::vector<std::pair<std::string, T>> choices, std::string help) {
  ParamSpec spec;
  spec.name = std::move(name);
  spec.help = std::move(help);
  spec.type = ParamType::choice;
  for (const auto& [text, value] : choices) {
    spec.choices.push_back(text);
    if (value == P{}.*member) spec.default_value = ParamValue::scalar(text);
  }
  spec.set = [member, choices, names = spec.choices](void* params,
                                                     const ParamValue& value) -> Result<void> {
    for (const auto& [text, choice] : choices) {
      if (value != ParamValue::scalar(text)) continue;
      static_cast<P*>(params)->*member = choice;
      return {};
    }
    return choice_error(names, value);
  };
  spec.get = [member, choices](const void* params) {
    for (const auto& [text, choice] : choices)
      if (static_cast<const P*>(params)->*member == choice) return ParamValue::scalar(text);
    return ParamValue{};
  };
  erased_.params.push_back(std::move(spec));
  return *this;
}

}  // namespace brigade
