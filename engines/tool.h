#pragma once
#include <string>
#include <vector>

/// Programs of others.
namespace gradwire::engines {

struct ToolResult {
  int exit_code = 0;
  std::string out, err;  ///< without the last line's end
};

/// Runs a program to its end; it has nothing to read. Throws Error where it cannot be started.
ToolResult run_tool(const std::vector<std::string>& argv);

}  // namespace gradwire::engines
