#include "engines/tool.h"

#include <poll.h>

#include "base/child_process.h"

namespace gradwire::engines {
namespace {

/// Takes what is there; false at the end.
bool read_some(const FileDescriptor& pipe, std::string& text) {
  std::byte block[4096];
  const std::size_t got = pipe.read_some(block, "a program's output");
  text.append(reinterpret_cast<const char*>(block), got);
  return got > 0;
}

void strip(std::string& text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
}

}  // namespace

ToolResult run_tool(const std::vector<std::string>& argv) {
  ChildProcess tool(
      argv, {.pipe_stdin = true, .pipe_stdout = true, .pipe_stderr = true, .own_group = true});
  tool.stdin_pipe().close();
  ToolResult result;
  bool out = true, err = true;
  while (out || err) {
    pollfd both[] = {{out ? tool.stdout_pipe().get() : -1, POLLIN, 0},
                     {err ? tool.stderr_pipe().get() : -1, POLLIN, 0}};
    if (::poll(both, 2, -1) < 0) continue;  // a signal, which others heed
    if (both[0].revents != 0) out = read_some(tool.stdout_pipe(), result.out);
    if (both[1].revents != 0) err = read_some(tool.stderr_pipe(), result.err);
  }
  result.exit_code = tool.wait();
  strip(result.out);
  strip(result.err);
  return result;
}

}  // namespace gradwire::engines
