#pragma once

// What the tests of every image reader ask of it: the pixels of a box, of all, and the error of a
// file.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "stages/image/decode/image_reader.h"
#include "tests/support/images/pillow_digests.h"
#include "tests/support/images/test_images.h"
#include "tests/support/message_of.h"
#include "tests/support/word_for_word.h"

namespace brigade::testing_support {

/// What is read of a file: height x width x channels, and the CRC-32 of the pixels, or few pixels
/// themselves; whether Pillow reads the same of the picture NAME, where it reads it; and a part
/// that is not that part of all. In RGB, and in all channels that it has where they are others.
inline std::string all_that_is_read(ImageReader& reader, const std::string& file,
                                    const std::string& name) {
  static const std::map<std::string, std::string> pillow = pillow_digests();
  if (!name.empty()) hand_out(name, file);
  const auto answer = [&](Channels channels) -> std::string {
    const auto header = reader.open(file, channels);
    const auto read = [&](const Box& box) {
      return reader.open(file, channels) ? reader.read(box) : Error{"not again"};
    };
    const auto pixels = header ? read({0, 0, header->height, header->width}) : header.error();
    if (!pixels) return pixels.error().message + "\n";
    const Picture all = picture_of(*pixels);
    const std::string digest = digest_of(all);
    const bool few = all.bytes.size() <= 36;
    std::string out = concat(all.height, " x ", all.width, " x ", all.channels, ": ",
                             few ? join(all.bytes, " ") : digest.substr(digest.rfind(' ') + 1));
    for (const Box& box :
         {Box{0, 0, 1, 1},
          Box{all.height / 3, all.width / 4, (all.height + 1) / 2, (all.width + 1) / 2},
          Box{all.height - 1, all.width - 1, 1, 1}})
      if (picture_of(read(box).value()) != part_of(all, box.y, box.x, box.height, box.width))
        out += concat(", but not from ", box.y, " ", box.x);
    if (header->channels != all.channels) out += ", unlike its header";
    if (header->left_out > 0) out += concat(", ", header->left_out, " left out");
    const auto known = channels == Channels::rgb ? pillow.find(name) : pillow.end();
    if (known != pillow.end()) out += known->second == digest ? ", as Pillow" : ", not as Pillow";
    return out + "\n";
  };
  const std::string rgb = answer(Channels::rgb), stored = answer(Channels::stored);
  return parted(rgb, ", ").first == stored.substr(0, stored.size() - 1) || rgb == stored
             ? rgb
             : rgb + "stored: " + stored;
}

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
  std::unique_ptr<ImageReader> reader_;
};

}  // namespace brigade::testing_support
