#pragma once

// A tensor in shared memory that replicas, and the program that started the run, map and update:
// `shared:` in the YAML. Parameters, result arrays, counters.
//
// It is plain memory: no lock, no audit, no protocol. Each process sees the stores of the others in
// the order that the processor keeps. Two stores to one element, or a load and a store, race.
// Aligned elements of up to 8 bytes are read whole on x86-64 and Arm, which lock-free SGD (Hogwild)
// relies on, although the language calls it undefined. If no update may be lost, as in a counter,
// use atomic(). A restarted replica finds the tensor unchanged.
//
// A handle: copies share the memory and keep it mapped. Any thread. Not available in a forked
// child.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <brigade/check.h>
#include <brigade/tensor.h>

namespace brigade {

class SharedTensor {
 public:
  /// Created by the runtime. `word`: not 0 once it is initialized. `fill`: this process must
  /// initialize it.
  struct Memory {
    std::shared_ptr<const void> owner = {};
    void* data = nullptr;
    std::uint64_t* word = nullptr;
    bool writable = true;
    bool fill = false;
  };

  SharedTensor() = default;
  SharedTensor(std::string name, DType dtype, const Shape& shape, Memory memory)
      : name_(std::move(name)), shape_(shape), dtype_(dtype), memory_(std::move(memory)) {}

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  /// Shape of the whole tensor; in a replica with `access: own_part`, of its part.
  const Shape& shape() const { return shape_; }
  std::int64_t elements() const { return shape_.elements(); }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * dtype_bytes(dtype_); }
  void* data() const { return memory_.data; }
  /// With `access: own_part` a program may only read.
  bool writable() const { return memory_.writable; }

  /// The elements; T must match dtype() (a mismatch aborts).
  template <class T>
  std::span<T> as() const {
    BRIGADE_CHECK(dtype_of<T>() == dtype_, name_, dtype_name(dtype_));
    return {static_cast<T*>(data()), static_cast<std::size_t>(elements())};
  }
  /// Element `i` for atomic updates: `steps.atomic<std::int64_t>(0)++`.
  template <class T>
  std::atomic_ref<T> atomic(std::int64_t i = 0) const {
    static_assert(std::atomic_ref<T>::is_always_lock_free,
                  "a lock would not work across processes");
    BRIGADE_CHECK(i >= 0 && i < elements(), name_, i);
    return std::atomic_ref<T>(as<T>()[static_cast<std::size_t>(i)]);
  }

  /// True if this process must fill it now: replica 0 of the stage named by `init: replica_0`, in
  /// open(), unless a predecessor has done so. Then it is all zeros, even if a predecessor died
  /// halfway. open() of the others is called when this one has returned.
  bool fill() const { return memory_.fill; }
  /// Marks it as filled; the runtime calls this for replicas, a program calls it itself.
  void set_initialised() const {
    std::atomic_ref<std::uint64_t>(*memory_.word).store(1, std::memory_order_release);
  }
  /// Sees all stores before set_initialised(), which this pairs with.
  bool initialised() const {
    return std::atomic_ref<std::uint64_t>(*memory_.word).load(std::memory_order_acquire) != 0;
  }

  /// For reading, like other tensors; this handle must outlive it.
  TensorView view() const { return {data(), dtype_, shape_}; }

 private:
  std::string name_;
  Shape shape_;
  DType dtype_ = DType::u8;
  Memory memory_;
};

}  // namespace brigade
