#include "base/hash.h"

#include <array>
#include <cstdio>

namespace gradwire {

std::string Hasher::hex() const {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value()));
  return text.data();
}

}  // namespace gradwire
