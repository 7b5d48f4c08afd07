#include "emulator/hosts/host_program.h"

#include <poll.h>

#include <array>

#include "base/child_process.h"

namespace gradwire::emulator {

ProgramResult run_program(const std::vector<std::string>& command) {
  ChildProcess child(command, {.pipe_stdout = true, .pipe_stderr = true});
  ProgramResult result;
  const std::array<std::pair<FileDescriptor*, std::string*>, 2> pipes = {
      {{&child.stdout_pipe(), &result.output}, {&child.stderr_pipe(), &result.errors}}};
  while (pipes[0].first->valid() || pipes[1].first->valid()) {
    std::array<pollfd, 2> polled = {{{pipes[0].first->get(), POLLIN, 0},
                                     {pipes[1].first->get(), POLLIN, 0}}};  // -1: passed over
    ::poll(polled.data(), polled.size(), -1);
    for (std::size_t i = 0; i < pipes.size(); ++i) {
      if (polled[i].revents == 0) continue;
      std::array<std::byte, 4096> block{};
      const std::size_t got = pipes[i].first->read_some(block, command[0]);
      pipes[i].second->append(reinterpret_cast<const char*>(block.data()), got);
      if (got == 0) pipes[i].first->close();
    }
  }
  result.exit_code = child.wait();
  return result;
}

}  // namespace gradwire::emulator
