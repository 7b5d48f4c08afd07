#pragma once
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <sstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "tests/fuzz/readers.h"

/// What the groups of readers share.
namespace gradwire::testing {

using Input = std::vector<std::byte>;
using Inputs = std::vector<Input>;

std::string_view text_of(std::span<const std::byte> bytes);
Input bytes_of(std::string_view text);
Input cbor(const nlohmann::json& value);

/// A file of the source tree.
std::string source_file(const std::string& name);
Inputs of_files(std::initializer_list<const char*> names);

/// Bytes that a writer of streams writes.
template <class Write>
Input written(Write&& write) {
  std::ostringstream out;
  write(out);
  return bytes_of(out.str());
}

/// Whether it came to its end: false where it threw an Error.
template <class Read>
bool takes(Read&& read) {
  try {
    read();
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace gradwire::testing
