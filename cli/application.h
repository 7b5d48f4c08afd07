#pragma once
#include "cli/context.h"

namespace gradwire::cli {

/// Adds the global options and all subcommands to `app`; `context` must outlive it. Help, man page
/// and completions derive from what is registered here.
void build_application(CLI::App& app, Context& context);

}  // namespace gradwire::cli
