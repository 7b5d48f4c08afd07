#pragma once
#include <algorithm>
#include <cstdint>
#include <istream>
#include <ostream>
#include <span>
#include <type_traits>
#include <vector>

#include "trainers/trainer_error.h"

/// Plain values to and from a byte stream, as the machine holds them (checkpoints stay on a
/// machine).
namespace gradwire::trainers {

template <typename T>
void put(std::ostream& out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.write(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
T get(std::istream& in) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  if (!in.read(reinterpret_cast<char*>(&value), sizeof value)) {
    throw TrainerError("load", "checkpoint", "it ends too early", "start the run afresh");
  }
  return value;
}

/// A length (u64) and that many elements.
template <typename T>
void put_span(std::ostream& out, std::span<const T> values) {
  put<std::uint64_t>(out, values.size());
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size_bytes()));
}

template <typename T>
std::vector<T> get_vector(std::istream& in) {
  constexpr std::uint64_t kMost = 1ull << 33;
  const auto size = get<std::uint64_t>(in);
  if (size > kMost) throw TrainerError("load", "checkpoint", "a length in it makes no sense");
  std::vector<T> values(size);
  if (!in.read(reinterpret_cast<char*>(values.data()),
               static_cast<std::streamsize>(size * sizeof(T)))) {
    throw TrainerError("load", "checkpoint", "it ends too early", "start the run afresh");
  }
  return values;
}

/// values = what put_span wrote, which must be as many.
inline void get_into(std::istream& in, std::span<float> values) {
  const std::vector<float> loaded = get_vector<float>(in);
  if (loaded.size() != values.size())
    throw TrainerError("load", "checkpoint", "it belongs to another model or optimiser",
                       "start the run afresh");
  std::copy(loaded.begin(), loaded.end(), values.begin());
}

}  // namespace gradwire::trainers
