#pragma once
#include <string>

#include "cli/context.h"

namespace gradwire::cli {

/// docs/commands.md: every command and option, in Markdown. A test compares the page with it.
std::string reference_page(const CLI::App& app);

}  // namespace gradwire::cli
