#include "base/hash.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace gradwire {

std::string Hasher::hex() const {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value()));
  return text.data();
}

std::uint64_t hash_of_hex(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

}  // namespace gradwire
