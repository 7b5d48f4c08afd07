#pragma once
#include <string>
#include <vector>

/// Programs of others.
namespace gradwire::engines {

/// Whether PATH has a program of that name.
bool is_in_path(const std::string& name);

struct ToolResult {
  int exit_code = 0;
  std::string out, err;  ///< without the last line's end
};

/// Runs a program to its end; it has nothing to read. Throws Error where it cannot be started.
ToolResult run_tool(const std::vector<std::string>& argv);

}  // namespace gradwire::engines
