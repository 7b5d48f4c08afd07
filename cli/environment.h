#pragma once
#include "scenarios/document/overrides.h"

/// What the environment sets: options by their variable (GRADWIRE_DB, see application.cc), fields
/// of scenarios by GRADWIRE_SET_ and their place.
namespace gradwire::cli {

/// GRADWIRE_SET_CLUSTER__WORKERS=8 is what `--set /cluster/workers=8` is, and weaker than it: "__"
/// stands between keys; a name without small letters is read in small letters, as fields are
/// written. Throws Error(kUsage) for a name without a key.
scenarios::Overrides overrides_of_environment();

/// The name's pointer: "/cluster/workers" of "CLUSTER__WORKERS".
std::string pointer_of_variable(std::string_view name);

}  // namespace gradwire::cli
