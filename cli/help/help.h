#pragma once
#include "cli/context.h"

namespace gradwire::cli {

/// Help in lines that fit the page: names and values of options on the left, or in a line of their
/// own where they are long, what they do on the right.
std::shared_ptr<CLI::Formatter> help_formatter(const Context& context);

}  // namespace gradwire::cli
