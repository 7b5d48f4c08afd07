#include "emulator/hub/tool.h"

#include <span>

#include "base/child_process.h"
#include "base/error.h"

namespace gradwire::emulator {
namespace {

std::string read_all(const FileDescriptor& pipe) {
  std::string text;
  std::byte block[4096];
  while (const std::size_t got = pipe.read_some(block, "a tool's messages"))
    text.append(reinterpret_cast<const char*>(block), got);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

std::string find_tool(const std::string& name) {
  std::string found = find_in_path(name, "/usr/sbin:/sbin:/usr/bin:/bin");
  if (!found.empty()) return found;
  const std::string package = name == "nft" ? "nftables" : "iproute2";
  throw Error(ErrorKind::kCapability, "emulate a network without", "the program " + name,
              "it is not installed", "install the package " + package);
}

ToolResult run_tool(const std::string& name, const std::vector<std::string>& arguments,
                    const std::string& input) {
  std::vector<std::string> argv = {find_tool(name)};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  ChildProcess::Options options;
  options.pipe_stdin = options.pipe_stdout = options.pipe_stderr = true;
  ChildProcess tool(argv, options);
  // These tools read all their input before they say more than a pipe holds.
  try {
    tool.stdin_pipe().write_all(std::as_bytes(std::span(input)), name);
  } catch (const Error&) {
    // It has given up early; its exit code and its words say why.
  }
  tool.stdin_pipe().close();
  ToolResult result;
  result.errors = read_all(tool.stderr_pipe());
  result.exit_code = tool.wait();
  return result;
}

void require_tool(const std::string& name, const std::vector<std::string>& arguments,
                  const std::string& input, const std::string& attempted,
                  const std::string& subject) {
  const ToolResult result = run_tool(name, arguments, input);
  if (result.exit_code == 0) return;
  throw Error(ErrorKind::kCapability, attempted, subject,
              name + " failed: " + (result.errors.empty() ? "no reason given" : result.errors),
              "run `gradwire doctor`, or use --executor flow or packet");
}

}  // namespace gradwire::emulator
