#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

/// The program's readers of what others write: files, logs, messages of its own children. Each
/// takes any bytes and gives a value or throws gradwire::Error; everything else is a finding.
namespace gradwire::testing {

struct Reader {
  const char* name;
  /// Inputs that it takes.
  std::vector<std::vector<std::byte>> (*seeds)();
  /// Whether it took them: false where it threw an Error.
  bool (*read)(std::span<const std::byte> bytes);
};

std::span<const Reader> readers();
/// Throws Error with the names that there are.
const Reader& reader_named(const std::string& name);

}  // namespace gradwire::testing
