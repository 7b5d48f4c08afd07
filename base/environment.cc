#include "base/environment.h"

#include <cstdlib>

namespace gradwire {

std::string environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

}  // namespace gradwire
