#pragma once

// What Pillow makes of whole pictures: tests/golden/images/pillow.txt, written by
// tools/image_goldens.py. A line per picture: its name, height, width, and the CRC-32 of its RGB
// bytes. Of the pictures that tests make as they run, the tool gets the files from the tests:
// BRIGADE_PICTURES=FOLDER in their environment has them written there.

#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include <brigade/text.h>
#include "tests/support/images/test_images.h"

namespace brigade::testing_support {

/// As a line of the file has it, without the name.
inline std::string digest_of(const Picture& rgb) {
  const uLong sum = crc32(0, rgb.bytes.data(), static_cast<uInt>(rgb.bytes.size()));
  return concat(rgb.height, " ", rgb.width, " ", sum);
}

/// Name -> digest.
inline std::map<std::string, std::string> pillow_digests() {
  std::ifstream file(std::string(BRIGADE_SOURCE_DIR) + "/tests/golden/images/pillow.txt");
  std::map<std::string, std::string> digests;
  std::string name, digest;
  while (file >> name && std::getline(file >> std::ws, digest)) digests[name] = digest;
  return digests;
}

/// Where BRIGADE_PICTURES says; nowhere without it.
inline void hand_out(const std::string& name, const std::string& file) {
  const char* const folder = std::getenv("BRIGADE_PICTURES");
  if (folder != nullptr) std::ofstream(concat(folder, "/", name), std::ios::binary) << file;
}

}  // namespace brigade::testing_support
