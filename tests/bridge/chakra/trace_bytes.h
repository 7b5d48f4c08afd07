#pragma once
#include <cstdint>
#include <string>
#include <vector>

/// Chakra's messages as bytes: field numbers and wire types as its schema has them.
namespace gradwire::testing {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value > 0x7F; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
inline std::string field(int number, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(number) << 3) + varint(value);
}
inline std::string field(int number, const std::string& bytes) {
  return varint(static_cast<std::uint64_t>(number) << 3 | 2) + varint(bytes.size()) + bytes;
}
/// Behind its length.
inline std::string message(const std::string& body) {
  return varint(body.size()) + body;
}
inline std::string chakra_head(const std::string& version = "1.0.0") {
  return message(field(1, version));
}

/// A node's parts behind its number and type.
inline std::string after(const std::vector<int>& nodes) {
  std::string list;
  for (const int node : nodes) list += varint(static_cast<std::uint64_t>(node));
  return field(5, list);
}
inline std::string lasts(std::uint64_t microseconds) {
  return field(7, microseconds);
}
inline std::string whole(const std::string& name, std::uint64_t value) {
  return field(10, field(1, name) + field(9, value));  // int64_val
}
inline std::string truth(const std::string& name, bool value) {
  return field(10, field(1, name) + field(27, std::uint64_t{value}));  // bool_val
}
inline std::string words(const std::string& name, const std::string& value) {
  return field(10, field(1, name) + field(29, value));  // string_val
}
inline std::string truths(const std::string& name, const std::string& values) {
  return field(10, field(1, name) + field(28, field(1, values)));  // bool_list
}

/// `type`: 2 and 3 memory, 4 computes, 5 sends, 6 receives, 7 is a collective.
inline std::string node(int id, int type, const std::string& rest = "") {
  return message(field(1, static_cast<std::uint64_t>(id)) +
                 field(3, static_cast<std::uint64_t>(type)) + rest);
}
inline std::string computes(int id, const std::string& rest) {
  return node(id, 4, rest);
}
/// An all-reduce.
inline std::string reduces(int id, std::uint64_t bytes, const std::string& rest) {
  return node(id, 7, whole("comm_type", 0) + whole("comm_size", bytes) + rest);
}

}  // namespace gradwire::testing
