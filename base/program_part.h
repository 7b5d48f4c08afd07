#pragma once
#include <string>
#include <string_view>

/// Programs and modules that belong to the running program and may be built at their first use: a
/// first start then compiles only what it runs. An installed program builds nothing: what it lacks
/// is in another package, and the libraries of wheels (LibTorch, ns-3) are fetched at their first
/// use.
namespace gradwire {

/// Path of the file `relative` (seen from the running program's folder) of the part `part`.
/// Where it is missing and ./gradwire started us, which says so by GRADWIRE_BUILD_PARTS (the path
/// of scripts/build), that script builds the part first, with its progress on stderr. The file may
/// be missing all the same: the caller says what it is for.
std::string part_path(std::string_view part, std::string_view relative);
/// The same, where the environment's `variable` does not name another place.
std::string part_path_or(const char* variable, std::string_view part, std::string_view relative);

/// Whether the running program was installed (`cmake --install`, a package): its scripts lie at
/// ../share/gradwire/scripts from it.
bool is_installed();

/// What to do about a missing part: the package to install, or the build to run.
std::string part_advice(std::string_view part);

/// Where an installed program has the libraries of the wheels `name`, "training" (LibTorch) or
/// "packet" (ns-3): the first that holds them of $GRADWIRE_DEPS, ../lib/gradwire/wheels and
/// $XDG_DATA_HOME/gradwire/wheels (~/.local/share). Empty where none does.
std::string wheels_folder(std::string_view name);

/// The same, after fetching them into $GRADWIRE_DEPS or the user's folder where there are none: the
/// installed scripts/install-wheels, with its progress on stderr. It says itself why it could not.
std::string fetched_wheels(std::string_view name);

/// From now on nothing is built or fetched: what only looks around must not start that.
void never_build_parts();

/// Loads a module: dlopen's handle, never closed, since LibTorch's threads outlive any use.
/// `attempted` and `why_missing` go into the Error(kCapability) that is thrown where it cannot be.
void* open_part_module(const std::string& path, std::string_view attempted,
                       std::string_view why_missing);

/// The address of `symbol` in a module. Throws Error(kCapability) where it has none.
void* module_symbol(void* module, const char* symbol);

}  // namespace gradwire
