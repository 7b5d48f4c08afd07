#pragma once
#include <string>

#include "cli/context.h"

namespace gradwire::cli {

/// What is wrong with a command line, and what was probably meant.
struct UsageProblem {
  std::string message;
  std::string suggestion;  ///< a command, option or value; empty = nothing is near
};

/// Of a command line that `app` has refused.
UsageProblem usage_problem(const CLI::App& app, const CLI::ParseError& error);

/// Throws CLI::ValidationError for an option that ends in "=", whose value the library would take
/// to be the next word.
void refuse_empty_assignments(int argc, const char* const* argv);

/// --format, or GRADWIRE_FORMAT, of a command line that could not be read to its end.
std::string format_of(int argc, const char* const* argv);

}  // namespace gradwire::cli
