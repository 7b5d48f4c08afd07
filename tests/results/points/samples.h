#pragma once
#include <cstdlib>
#include <string>

#include "base/file_descriptor.h"

/// The text of a file in tests/results/points/samples. All were written by hand in the formats of
/// the programs that they are named after; nothing in them was measured.
inline std::string sample(const std::string& name) {
  const char* source = std::getenv("GRADWIRE_SOURCE_DIR");
  return gradwire::read_file(std::string(source ? source : ".") + "/tests/results/points/samples/" +
                             name);
}

/// `text` with the first `from` replaced by `to`; the text must have it.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}
