#pragma once
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace gradwire::sim {

/// Numbers as one CBOR byte string.
template <class T>
nlohmann::json pack(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<std::uint8_t> bytes(values.size_bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return nlohmann::json::binary(std::move(bytes));
}

template <class T>
nlohmann::json pack(const std::vector<T>& values) {
  return pack(std::span<const T>(values));
}

template <class T>
std::vector<T> unpack(const nlohmann::json& value) {
  const auto& bytes = value.get_binary();
  if (bytes.size() % sizeof(T) != 0)
    throw Error(ErrorKind::kFailure, "read", "a packet simulator's frame", "an array is torn");
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
  return values;
}

}  // namespace gradwire::sim
