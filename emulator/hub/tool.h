#pragma once
#include <string>
#include <vector>

/// The programs that configure the kernel: ip and tc (iproute2), nft (nftables). They are looked
/// for in PATH and in the sbin folders, which an ordinary user's PATH often lacks.
namespace gradwire::emulator {

/// The program's path. Throws Error(kCapability) naming the package to install.
std::string find_tool(const std::string& name);

struct ToolResult {
  int exit_code = 0;
  std::string errors;  ///< what it wrote to its standard error
};

/// Runs a program with `input` on its standard input.
ToolResult run_tool(const std::string& name, const std::vector<std::string>& arguments,
                    const std::string& input);

/// As above, and throws Error(kCapability) with the program's own words if it fails: `attempted`
/// and `subject` as in Error.
void require_tool(const std::string& name, const std::vector<std::string>& arguments,
                  const std::string& input, const std::string& attempted,
                  const std::string& subject);

}  // namespace gradwire::emulator
