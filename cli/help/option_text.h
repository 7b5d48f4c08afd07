#pragma once
#include <string>
#include <vector>

#include "cli/context.h"

/// How options are written in help, manual page, documentation and completions: one wording for
/// all.
namespace gradwire::cli {

/// "-j,--jobs N in 1..256", "--format text|json", "FILE".
std::string option_title(const CLI::Option& option);

/// What it does, its default, what it needs, and the variable that stands for it.
std::string option_help(const CLI::Option& option);

/// "text", "json", ...: where it takes one of a few names.
std::vector<std::string> option_choices(const CLI::Option& option);

/// Options of a command without --help, in their order.
std::vector<const CLI::Option*> options_of(const CLI::App& command);

std::vector<const CLI::App*> commands_of(const CLI::App& command);

}  // namespace gradwire::cli
