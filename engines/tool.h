#pragma once
#include <string>

/// Programs of others.
namespace gradwire::engines {

/// Whether PATH has a program of that name.
bool is_in_path(const std::string& name);

}  // namespace gradwire::engines
