#pragma once
#include "cli/context.h"

namespace gradwire::cli {

/// Adds the global options and all subcommands to `app`; `context` must outlive it. Help, man page
/// and completions derive from what is registered here.
void build_application(CLI::App& app, Context& context);

/// Check of an option's value: one that is empty, or blank, is an unset shell variable and would
/// mean every run, or no file. For what removes or writes; the names of files have it already.
std::string refuse_empty(const std::string& value);

}  // namespace gradwire::cli
