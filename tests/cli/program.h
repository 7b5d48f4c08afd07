#pragma once
#include <string>
#include <vector>

#include "base/temporary_file.h"

/// Runs the built `gradwire` as its user would.
namespace gradwire::testing {

struct Result {
  int exit_code = 0;
  std::string out;
  std::string err;
};

/// Runs bin/gradwire with `arguments`; `prefix` may be a shell snippet that execs "$@".
Result run_program(const std::vector<std::string>& arguments, const std::string& prefix = {});
std::string program_path();
/// Skips the case where this build has no training module; its tag is [needs-torch].
void require_training();
/// Skips the case where this build has no gradwire-packet; its tag is [needs-packet].
void require_packets();
/// A file of the source tree.
std::string source_path(const std::string& relative);

}  // namespace gradwire::testing
