#pragma once
#include <string>

namespace gradwire {

/// Makes the folder and those above it, where they are missing. Throws Error(kFailure) naming it,
/// the reason, and `advice`.
void make_folder(const std::string& path, const std::string& advice = "name another folder");

}  // namespace gradwire
