#include "base/gzip.h"

#include <filesystem>

#include "base/file_descriptor.h"

namespace gradwire {

std::vector<std::uint8_t> maybe_gunzip(std::span<const std::uint8_t> bytes,
                                       const std::string& subject) {
  if (bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) return gunzip(bytes, subject);
  return {bytes.begin(), bytes.end()};
}

std::vector<std::uint8_t> read_maybe_gzip(const std::string& path) {
  const std::string raw = read_file(path);
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(raw.data()),
                                            raw.size());
  return maybe_gunzip(bytes, path);
}

std::string find_plain_or_gzip(const std::string& path) {
  for (const std::string& candidate : {path, path + ".gz"}) {
    if (std::filesystem::exists(candidate)) return candidate;
  }
  return {};
}

}  // namespace gradwire
