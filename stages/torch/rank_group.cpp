#include "stages/torch/rank_group.h"

// LibTorch's own flags say it, too, where it was built with them.
#if defined(BRIGADE_HAS_GLOO) && !defined(USE_C10D_GLOO)
#define USE_C10D_GLOO
#endif
#if defined(BRIGADE_HAS_NCCL) && !defined(USE_C10D_NCCL)
#define USE_C10D_NCCL
#endif
#ifdef BRIGADE_HAS_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
#ifdef BRIGADE_HAS_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>

#include <brigade/text.h>
#include "stages/torch/torch_adapter.h"

namespace brigade {
namespace {

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text ? text : "";
}

template <class Number>
std::optional<Number> number(const char* name) {
  const std::string text = variable(name);
  Number value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string limit_text(std::chrono::milliseconds limit) {
  return concat(static_cast<double>(limit.count()) / 1000, " s");
}

/// A group of LibTorch's, whose class differs between its versions.
template <class Group>
class C10dGroup final : public RankGroup {
 public:
  C10dGroup(RankPlace place, c10::intrusive_ptr<c10d::Store> store, c10::intrusive_ptr<Group> group)
      : place_(std::move(place)), store_(std::move(store)), group_(std::move(group)) {}

  Result<void> sum(at::Tensor& values) override {
    return done([&](std::vector<at::Tensor>& all) { return group_->allreduce(all); }, values);
  }
  Result<void> take_from_first(at::Tensor& values) override {
    return done([&](std::vector<at::Tensor>& all) { return group_->broadcast(all); }, values);
  }
  Result<void> check_same(std::string_view what, const std::string& text) override;

 private:
  template <class Call>
  Result<void> done(Call call, at::Tensor& values) {
    std::vector<at::Tensor> all{values};
    const auto result = torch_guarded([&]() -> Result<void> {
      call(all)->wait();
      return {};
    });
    return result ? result : lost(result.error());
  }
  Error lost(const Error& error) const {
    return error.within(concat("rank ", place_.rank, " of ", place_.world,
                               " lost another rank (data_parallel; rank_timeout is ",
                               limit_text(place_.time_limit), ")"));
  }

  RankPlace place_;
  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<Group> group_;
};

template <class Group>
Result<void> C10dGroup<Group>::check_same(std::string_view what, const std::string& text) {
  const auto key = [&](int rank) { return concat(what, '/', rank); };
  std::vector<std::uint8_t> first;
  const auto read = torch_guarded([&]() -> Result<void> {
    store_->set(key(place_.rank), std::vector<std::uint8_t>(text.begin(), text.end()));
    first = store_->get(key(0));
    return {};
  });
  if (!read) return lost(read.error());
  const std::string other(first.begin(), first.end());
  if (other == text) return {};
  return Error{concat("data_parallel needs the same ", what, ": rank 0 has ", other, ", rank ",
                      place_.rank, " has ", text)};
}

Error not_met(const RankPlace& place, const Error& error) {
  return error.within(concat("rank ", place.rank, ": ", place.world, " ranks did not meet at ",
                             place.address, ':', place.port, " within ",
                             limit_text(place.time_limit),
                             " (MASTER_ADDR, MASTER_PORT, rank_timeout)"));
}

Result<c10::intrusive_ptr<c10d::Store>> open_store(const RankPlace& place) {
  c10d::TCPStoreOptions options;
  options.port = place.port;
  options.isServer = place.rank == 0 && !place.launcher_listens;
  options.numWorkers = static_cast<std::size_t>(place.world);
  options.waitWorkers = !place.launcher_listens;
  options.timeout = place.time_limit;
  c10::intrusive_ptr<c10d::Store> store;
  const auto opened = torch_guarded([&]() -> Result<void> {
    store = c10::make_intrusive<c10d::TCPStore>(place.address, options);
    store->setTimeout(place.time_limit);
    // The launcher's store outlives a run.
    store = c10::make_intrusive<c10d::PrefixStore>(
        concat("brigade/", variable("TORCHELASTIC_RESTART_COUNT")), store);
    return {};
  });
  if (opened) return store;
  return not_met(place, opened.error());
}

template <class Group, class Options>
Result<std::unique_ptr<RankGroup>> make_group(const RankPlace& place,
                                              c10::intrusive_ptr<Options> options) {
  BRIGADE_ASSIGN(auto store, open_store(place));
  std::unique_ptr<RankGroup> made;
  const auto joined = torch_guarded([&]() -> Result<void> {
    auto group = c10::make_intrusive<Group>(store, place.rank, place.world, std::move(options));
    made = std::make_unique<C10dGroup<Group>>(place, store, std::move(group));
    return {};
  });
  if (joined) return made;
  return not_met(place, joined.error());
}

Result<std::unique_ptr<RankGroup>> join_cpus([[maybe_unused]] const RankPlace& place) {
#ifdef BRIGADE_HAS_GLOO
  using Gloo = c10d::ProcessGroupGloo;
  auto options = Gloo::Options::create(place.time_limit);
  const bool here = place.address == "localhost" || place.address == "127.0.0.1";
  const std::string interface = variable("GLOO_SOCKET_IFNAME");
  const auto chosen = torch_guarded([&]() -> Result<void> {
    options->devices.push_back(!interface.empty() ? Gloo::createDeviceForInterface(interface)
                               : here             ? Gloo::createDeviceForHostname("127.0.0.1")
                                                  : Gloo::createDefaultDevice());
    return {};
  });
  if (!chosen) return chosen.error();
  return make_group<Gloo>(place, std::move(options));
#else
  return Error{
      "this build of the torch package supports data_parallel only on GPUs, because it was built "
      "without libgloo-dev; write data_parallel: false, or device: cuda"};
#endif
}

Result<std::unique_ptr<RankGroup>> join_gpus([[maybe_unused]] const RankPlace& place) {
#ifdef BRIGADE_HAS_NCCL
  using Nccl = c10d::ProcessGroupNCCL;
  auto options = Nccl::Options::create();
  options->timeout = place.time_limit;
  return make_group<Nccl>(place, std::move(options));
#else
  return Error{
      "this build of the torch package supports data_parallel only on CPUs, because it was built "
      "without the NCCL headers; write data_parallel: false, or device: cpu"};
#endif
}

void add_flat(std::vector<at::Tensor>& parts, const at::Tensor& tensor) {
  parts.push_back(tensor.reshape({-1}).to(at::kFloat));
}

/// The next elements of `flat`, from `at` on, as `tensor` has them.
at::Tensor take_flat(const at::Tensor& flat, std::int64_t& at, const at::Tensor& tensor) {
  const at::Tensor part = flat.narrow(0, at, tensor.numel());
  at += tensor.numel();
  return part.view(tensor.sizes());
}

}  // namespace

Result<RankPlace> RankPlace::from_environment(std::chrono::milliseconds time_limit) {
  RankPlace place;
  place.time_limit = time_limit;
  place.rank = number<int>("RANK").value_or(0);
  place.world = number<int>("WORLD_SIZE").value_or(1);
  if (place.world <= 1) return place;
  place.address = variable("MASTER_ADDR");
  place.port = number<std::uint16_t>("MASTER_PORT").value_or(0);
  if (place.address.empty() || place.port == 0)
    return Error{
        concat("rank ", place.rank, " of ", place.world,
               " needs MASTER_ADDR and MASTER_PORT for data_parallel, found ", quote(place.address),
               " and ", quote(variable("MASTER_PORT")),
               "; start with torchrun, or on one machine set MASTER_ADDR=127.0.0.1 "
               "MASTER_PORT=29500; write data_parallel: false to train a separate model per rank")};
  place.launcher_listens = variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
  return place;
}

Result<std::unique_ptr<RankGroup>> RankGroup::join(const RankPlace& place, at::Device device) {
  return device.is_cpu() ? join_cpus(place) : join_gpus(place);
}

Result<void> average_step(RankGroup& group, const std::vector<at::Tensor>& parameters,
                          const std::vector<at::Tensor>& statistics, std::int64_t samples) {
  const at::NoGradGuard no_gradients;
  std::vector<at::Tensor> parts;
  for (const at::Tensor& parameter : parameters)
    add_flat(parts, parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter));
  for (const at::Tensor& statistic : statistics) add_flat(parts, statistic);
  parts.push_back(at::ones({1}, parts.front().options()));
  at::Tensor flat = at::cat(parts);
  flat.mul_(static_cast<double>(samples));
  BRIGADE_TRY(group.sum(flat));
  // Where no rank has a sample gradients are 0, and statistics stay.
  const at::Tensor all_samples = flat[-1].clone();
  if (samples == 0 && all_samples.item<double>() == 0) return {};
  flat.div_(all_samples);
  std::int64_t at = 0;
  for (const at::Tensor& parameter : parameters) {
    const at::Tensor mean = take_flat(flat, at, parameter);
    if (parameter.grad().defined())
      parameter.grad().copy_(mean);
    else
      at::Tensor(parameter).mutable_grad() = mean.to(parameter.scalar_type()).clone();
  }
  for (const at::Tensor& statistic : statistics)
    at::Tensor(statistic).copy_(take_flat(flat, at, statistic));
  return {};
}

Result<void> begin_alike(RankGroup& group, const std::vector<at::Tensor>& tensors) {
  const at::NoGradGuard no_gradients;
  for (const at::Tensor& tensor : tensors) {
    at::Tensor whole = tensor.detach().contiguous();
    BRIGADE_TRY(group.take_from_first(whole));
    at::Tensor(tensor).copy_(whole);
  }
  return {};
}

}  // namespace brigade
