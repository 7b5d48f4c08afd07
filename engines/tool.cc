#include "engines/tool.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace gradwire::engines {

bool is_in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view left = path ? path : "";
  while (!left.empty()) {
    const std::size_t end = std::min(left.find(':'), left.size());
    if (::access((std::string(left.substr(0, end)) + "/" + name).c_str(), X_OK) == 0) return true;
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return false;
}

}  // namespace gradwire::engines
