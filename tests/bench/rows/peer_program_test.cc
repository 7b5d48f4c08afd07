#include "bench/rows/peer_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "base/child_process.h"
#include "base/file_descriptor.h"
#include "base/temporary_file.h"

using namespace gradwire;
using namespace gradwire::bench;

TEST_CASE("a benchmark's program that is missing is built at its first use", "[unit]") {
  const TemporaryFolder folder;
  const std::string name = "gradwire-bench-made-" + std::to_string(::getpid());
  const std::string program = executable_folder() + "/" + name;
  // What ./gradwire names: a build that says what it was asked for, and makes the program.
  const std::string script = folder.file("build");
  write_file(script, "#!/bin/sh\necho \"$@\" > " + folder.file("asked") +
                         "\nprintf '#!/bin/sh\\necho ran' > '" + program + "'\nchmod +x '" +
                         program + "'\n");
  ::chmod(script.c_str(), 0755);
  ::setenv("GRADWIRE_BUILD_PARTS", script.c_str(), 1);
  ::setenv("GRADWIRE_PRESET", "some", 1);
  CHECK(has_peer_program(name));
  CHECK(read_file(folder.file("asked")) == "some --part bench\n");
  CHECK(peer_program_output(name, {}) == "ran\n");
  std::filesystem::remove(program);
  ::unsetenv("GRADWIRE_BUILD_PARTS");
  ::unsetenv("GRADWIRE_PRESET");
}
