#include "tests/fuzz/readers/inputs.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"

namespace gradwire::testing {

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Input bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Input cbor(const nlohmann::json& value) {
  const std::vector<std::uint8_t> bytes = nlohmann::json::to_cbor(value);
  const auto* const begin = reinterpret_cast<const std::byte*>(bytes.data());
  return {begin, begin + bytes.size()};
}

std::string source_file(const std::string& name) {
  const char* const source = std::getenv("GRADWIRE_SOURCE_DIR");
  return std::string(source != nullptr ? source : ".") + "/" + name;
}

Inputs of_files(std::initializer_list<const char*> names) {
  Inputs inputs;
  for (const char* name : names) inputs.push_back(bytes_of(read_file(source_file(name))));
  return inputs;
}

}  // namespace gradwire::testing
