#pragma once

// Draws several images side by side into one, for people to view. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <brigade/tensor.h>

namespace brigade {

/// Rows of RGB, 3 bytes a pixel.
struct SheetPicture {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<std::uint8_t> pixels;
  bool of_classes = false;  ///< colours stand for numbers: pixels in between are none
};

/// What a tensor shows: [H, W], [H, W, C] or [C, H, W] with 1 or 3 channels, one picture; with one
/// more dimension in front of three, as many pictures. u8 is shown as it is, floating-point numbers
/// from the least (black) to the largest (white) of a picture, and class numbers, each in a colour
/// of its own: other integers and booleans, and u8 [H, W] of numbers up to 31, and 255. Empty: the
/// tensor is no picture, as floating-point numbers [H, W] with a side below 8 are none.
std::vector<SheetPicture> pictures_of(const TensorView& tensor);

/// Corners (x, y, x, y) in pixels of the picture, one box after the other.
using SheetBoxes = std::vector<float>;

/// Those of a tensor of floating-point numbers [N, 4]; nothing for others.
std::optional<SheetBoxes> boxes_of(const TensorView& tensor);

/// A grid of cells of `side` x `side` pixels, filled row by row.
class ContactSheet {
 public:
  ContactSheet(int columns, int side) : columns_(columns), side_(side) {}

  /// The pictures of one sample, at least one and as many for each, in cells next to each other;
  /// `boxes` are drawn on the first. The cell of one without pixels stays empty.
  void add(const std::vector<SheetPicture>& pictures, const SheetBoxes& boxes);
  /// Row and column of the next sample's first cell, from 1.
  std::string next_place() const;
  /// Bytes of so many samples, each of so many pictures.
  std::uint64_t bytes_for(std::uint64_t samples, std::size_t pictures) const;
  /// As a PNG file. At least one sample was added.
  std::string png() const;

 private:
  int columns_for(std::size_t pictures) const;  ///< whole samples side by side
  void draw(const SheetPicture& picture, const SheetBoxes& boxes);

  int columns_;
  int side_;
  std::size_t cells_ = 0;             ///< that are filled
  std::vector<std::uint8_t> pixels_;  ///< of all rows of cells that are begun
};

}  // namespace brigade
