#pragma once

// Where something stands in the user's text. A mark is a place, a span is a place and a length.

namespace brigade {

/// Where something stands in the user's text; line and column count from 1, columns in bytes.
struct SourceMark {
  int file = -1;  ///< index into the list of files; -1: not from a file (--set, default)
  int line = 0;
  int column = 0;
  friend bool operator==(const SourceMark&, const SourceMark&) = default;
};

/// A token: where it begins and how many bytes of its line it takes.
struct Span {
  SourceMark mark;
  int length = 1;
};

}  // namespace brigade
