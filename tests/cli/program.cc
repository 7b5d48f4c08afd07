#include "tests/cli/program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/child_process.h"
#include "base/error.h"
#include "base/file_descriptor.h"
#include "tests/skip.h"

namespace gradwire::testing {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  if (!value)
    throw Error(ErrorKind::kFailure, "run the test", name,
                "the variable is not set; run it through ctest");
  return value;
}

}  // namespace

std::string program_path() {
  return environment("GRADWIRE_BINARY_DIR") + "/bin/gradwire";
}
namespace {

/// Whether the build made a file, `relative` to the folder of the program.
bool is_built(const std::string& relative) {
  return std::filesystem::exists(std::filesystem::path(program_path()).parent_path() / relative);
}

}  // namespace

void require_training() {
  if (!is_built("../lib/libgradwire_trainers.so"))
    skip("this build has no training module (LibTorch is absent)");
}
void require_packets() {
  if (!is_built("gradwire-packet")) skip("this build has no gradwire-packet (ns-3 is absent)");
}

std::string source_path(const std::string& relative) {
  return environment("GRADWIRE_SOURCE_DIR") + "/" + relative;
}

Result run_program(const std::vector<std::string>& arguments, const std::string& prefix) {
  const TemporaryFolder folder;
  std::vector<std::string> argv = {
      "sh",
      "-c",
      "exec >\"$0\" 2>\"$1\"; shift; " + (prefix.empty() ? "exec \"$@\"" : prefix),
      folder.file("out"),
      folder.file("err"),
      program_path()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  Result result;
  result.exit_code = ChildProcess(argv, {}).wait();
  result.out = read_file(folder.file("out"));
  result.err = read_file(folder.file("err"));
  return result;
}

}  // namespace gradwire::testing
