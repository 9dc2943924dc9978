#pragma once

// What the tests of every image reader ask of it: the pixels of a box, of all, and the error of a
// file.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "stages/image/decode/image_reader.h"
#include "tests/support/images/test_images.h"
#include "tests/support/message_of.h"

namespace brigade::testing_support {

class ReaderTest : public testing::Test {
 protected:
  explicit ReaderTest(std::unique_ptr<ImageReader> reader) : reader_(std::move(reader)) {}

  Picture read(const std::string& file, const Box& box, Channels channels = Channels::rgb) {
    const auto header = reader_->open(file, channels);
    EXPECT_TRUE(header) << header.error().message;
    const auto pixels = reader_->read(box);
    EXPECT_TRUE(pixels) << pixels.error().message;
    EXPECT_EQ(header->channels, pixels->channels);
    return pixels ? picture_of(*pixels) : Picture{};
  }
  Picture read_all(const std::string& file, Channels channels = Channels::rgb) {
    const auto header = reader_->open(file, channels);
    EXPECT_TRUE(header) << header.error().message;
    return header ? read(file, {0, 0, header->height, header->width}, channels) : Picture{};
  }
  std::string error_of(const std::string& file, Channels channels = Channels::rgb) {
    const auto header = reader_->open(file, channels);
    if (!header) return header.error().message;
    return message_of(reader_->read({0, 0, header->height, header->width}));
  }
  /// Every byte of the file changed, and the file cut there: an error or a picture, and the next
  /// file is read. Only each `step`th byte of the middle of a long file.
  void expect_damage_is_survived(const std::string& file, std::size_t step = 1) {
    for (std::size_t i = 0; i < file.size(); i += i < 200 || i > file.size() - 300 ? 1 : step) {
      std::string changed = file;
      changed[i] = static_cast<char>(changed[i] ^ 0x55);
      const auto header = reader_->open(changed);
      if (header && header->height * header->width < 1 << 20)
        (void)reader_->read({0, 0, header->height, header->width}).ok();
      EXPECT_EQ(error_of(file.substr(0, i)).find('\n'), std::string::npos);
    }
    EXPECT_EQ(error_of(file), "no error");
  }

  std::unique_ptr<ImageReader> reader_;
};

}  // namespace brigade::testing_support
