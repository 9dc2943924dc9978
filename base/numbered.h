#pragma once

// Numbers that name one kind of thing, and lists that are indexed by
// them. A number of one kind is none of another: a list by stage takes no
// task queue's number, and no int but a constant of the source text (0;
// -1: none). Any other int needs an explicit conversion: StageNumber(i).

#include <compare>
#include <concepts>
#include <cstddef>
#include <vector>

namespace brigade {

/// Of the kind that the tag `Kind` names.
template <class Kind>
class Number {
 public:
  constexpr Number() = default;
  explicit constexpr Number(int value) : value_(value) {}
  template <std::same_as<int> Int>
  consteval Number(Int constant) : value_(constant) {}

  /// For words, files and texts.
  constexpr int value() const { return value_; }

  constexpr Number& operator++() { return ++value_, *this; }
  constexpr Number operator--(int) { return Number(value_--); }
  constexpr Number& operator--() { return --value_, *this; }
  friend constexpr bool operator==(Number, Number) = default;
  friend constexpr auto operator<=>(Number, Number) = default;
  friend constexpr bool operator==(Number number, int value) { return number.value_ == value; }

 private:
  int value_ = 0;
};

/// The place in a list.
constexpr std::size_t index_of(int number) { return static_cast<std::size_t>(number); }
template <class Kind>
constexpr std::size_t index_of(Number<Kind> number) {
  return index_of(number.value());
}

/// first, first + 1, ... before `last`, for range-based loops.
template <class N>
struct NumberRange {
  struct Iterator {
    N at;
    N operator*() const { return at; }
    Iterator& operator++() { return ++at, *this; }
    friend bool operator==(const Iterator&, const Iterator&) = default;
  };
  N first, last;

  Iterator begin() const { return {first}; }
  Iterator end() const { return {last}; }
};

/// A vector whose elements go by numbers of one kind: Number<Kind>, or int.
template <class N, class Element>
class Numbered : public std::vector<Element> {
  using Elements = std::vector<Element>;

 public:
  using Elements::Elements;

  typename Elements::reference operator[](N number) {
    return Elements::operator[](index_of(number));
  }
  typename Elements::const_reference operator[](N number) const {
    return Elements::operator[](index_of(number));
  }
  bool has(N number) const { return number >= N{} && index_of(number) < this->size(); }

  /// That of the element that would be added next.
  N next_number() const { return N(static_cast<int>(this->size())); }
  N number_of(const Element& element) const { return N(static_cast<int>(&element - this->data())); }
  /// Of all elements from `first` on.
  NumberRange<N> numbers(N first = N{}) const {
    const N end = next_number();
    return {first, first < end ? end : first};
  }
};

}  // namespace brigade
