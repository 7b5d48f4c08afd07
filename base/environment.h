#pragma once
#include <string>

namespace gradwire {

/// What the environment says of `name`; empty where it says nothing.
std::string environment_variable(const char* name);

}  // namespace gradwire
