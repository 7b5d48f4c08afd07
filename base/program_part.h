#pragma once
#include <string>
#include <string_view>

/// Programs and modules that belong to the running program and may be built at their first use: a
/// first start then compiles only what it runs.
namespace gradwire {

/// Path of the file `relative` (seen from the running program's folder) of the part `part`.
/// Where it is missing and ./gradwire started us, which says so by GRADWIRE_BUILD_PARTS (the path of
/// scripts/build), that script builds the part first, with its progress on stderr. The file may be
/// missing all the same: the caller says what it is for.
std::string part_path(std::string_view part, std::string_view relative);

/// From now on part_path() builds nothing: what only looks around must not start a build.
void never_build_parts();

/// Loads a module: dlopen's handle, never closed, since LibTorch's threads outlive any use.
/// `attempted` and `why_missing` go into the Error(kCapability) that is thrown where it cannot be.
void* open_part_module(const std::string& path, std::string_view attempted,
                       std::string_view why_missing);

/// The address of `symbol` in a module. Throws Error(kCapability) where it has none.
void* module_symbol(void* module, const char* symbol);

}  // namespace gradwire
