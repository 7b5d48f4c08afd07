#include "bench/rows/peer_program.h"

#include <unistd.h>

#include "base/child_process.h"
#include "base/error.h"
#include "base/program_part.h"

namespace gradwire::bench {
namespace {

std::string path_of(const std::string& name) {
  return part_path("bench", name);
}

}  // namespace

bool has_peer_program(const std::string& name) {
  return ::access(path_of(name).c_str(), X_OK) == 0;
}

std::string peer_program_output(const std::string& name, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), path_of(name));
  ChildProcess child(arguments, {.pipe_stdout = true});
  std::string text;
  char part[256];
  for (ssize_t got = 0; (got = ::read(child.stdout_pipe().get(), part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  if (child.wait() != 0)
    throw Error(ErrorKind::kFailure, "measure", path_of(name), "it failed, saying: " + text);
  return text;
}

}  // namespace gradwire::bench
