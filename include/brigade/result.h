#pragma once

// Result<T>: a value, or an Error of one line: what was expected, what was found, where, and
// what to do. For faults that a user, a file or the machine can cause. "Queue empty" and "end
// of data" are ordinary values, not errors; conditions that always hold are a BRIGADE_CHECK.
//
//   Result<Config> read(path);
//   BRIGADE_ASSIGN(Config config, read(path));   // or return its error from this function
//   BRIGADE_TRY(config.check());                 // for Result<void>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <brigade/check.h>

namespace brigade {

/// Why a call was rejected, if a program can react to it.
enum class Refusal : std::uint8_t {
  other,        ///< see the message
  held,         ///< the program holds more batches or slots than it may
  unread,       ///< the program must first read another output
  interrupted,  ///< Pipeline::interrupted() ended the wait
  lost          ///< a stage lost a resource, so `on_error:` skips nothing
};

/// Why something failed: one line, without a full stop, readable without the source.
struct Error {
  std::string message;
  Refusal refusal = Refusal::other;

  /// The same error with "context: " in front.
  [[nodiscard]] Error within(const std::string& context) const {
    return Error{context + ": " + message, refusal};
  }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  /// The value; aborts with the error's message if there is none.
  T& value() & {
    BRIGADE_CHECK(ok(), error().message);
    return std::get<0>(state_);
  }
  const T& value() const& {
    BRIGADE_CHECK(ok(), error().message);
    return std::get<0>(state_);
  }
  T&& value() && {
    BRIGADE_CHECK(ok(), error().message);
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// The error; only when !ok().
  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  void value() const { BRIGADE_CHECK(ok(), error_->message); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace brigade

#define BRIGADE_CONCAT_INNER(a, b) a##b
#define BRIGADE_CONCAT(a, b) BRIGADE_CONCAT_INNER(a, b)

/// Runs an expression of type Result<void>; returns its error from the enclosing function.
#define BRIGADE_TRY(expression)                                           \
  do {                                                                    \
    if (auto brigade_result = (expression); !brigade_result) [[unlikely]] \
      return brigade_result.error();                                      \
  } while (false)

#define BRIGADE_ASSIGN_INNER(target, expression, name) \
  auto name = (expression);                            \
  if (!name) [[unlikely]]                              \
    return name.error();                               \
  target = std::move(name).value()

/// `BRIGADE_ASSIGN(auto file, open(path));` or the error returned from the enclosing function.
#define BRIGADE_ASSIGN(target, ...) \
  BRIGADE_ASSIGN_INNER(target, (__VA_ARGS__), BRIGADE_CONCAT(brigade_result_, __LINE__))
