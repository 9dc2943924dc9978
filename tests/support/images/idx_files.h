#pragma once

// Writes small IDX files, sound or broken, for tests.

#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>

#include <brigade/check.h>
#include <brigade/text.h>

namespace brigade::testing_support {

/// A fresh folder in the temporary directory, removed with its contents at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "brigade_test_XXXXXX").string();
    BRIGADE_CHECK(mkdtemp(name.data()) != nullptr, name);
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  /// The path of a file in it.
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string idx_header(int code, std::initializer_list<std::uint32_t> sizes) {
  std::string out{0, 0, static_cast<char>(code), static_cast<char>(sizes.size())};
  for (std::uint32_t size : sizes)
    for (int shift : {24, 16, 8, 0}) out += static_cast<char>(size >> shift & 255);
  return out;
}

inline std::string write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

inline std::string write_gzip(const std::string& path, const std::string& bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  const int written = gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  BRIGADE_CHECK(written == static_cast<int>(bytes.size()) && gzclose(file) == Z_OK, path);
  return path;
}

/// `count` bytes: first, first + 1, ...
inline std::string counting_bytes(std::size_t count, int first = 0) {
  std::string out(count, '\0');
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<char>(first + static_cast<int>(i));
  return out;
}

}  // namespace brigade::testing_support
