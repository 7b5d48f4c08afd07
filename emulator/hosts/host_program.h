#pragma once
#include <string>
#include <vector>

namespace gradwire::emulator {

struct ProgramResult {
  int exit_code = 0;  ///< 128 + the number of the signal that ended it
  std::string output, errors;
};

/// Runs a program to its end, in this process' namespaces, with what it writes to its standard
/// output and error. Throws Error when it cannot be executed.
ProgramResult run_program(const std::vector<std::string>& command);

}  // namespace gradwire::emulator
