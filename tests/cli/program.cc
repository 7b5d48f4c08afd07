#include "tests/cli/program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/child_process.h"
#include "base/error.h"
#include "base/file_descriptor.h"

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
