#pragma once
#include <string>

namespace gradwire {

/// Makes the folder and those above it, where they are missing. Throws Error(kFailure) naming it,
/// the reason, and `advice`.
void make_folder(const std::string& path, const std::string& advice = "name another folder");
/// The same of the folder that the file `path` is to be in, where it names one.
void make_folder_of(const std::string& path, const std::string& advice = "name another folder");

}  // namespace gradwire
