#pragma once
#include <algorithm>
#include <cstdint>
#include <istream>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"

/// Plain values to and from a byte stream, as the machine holds them (checkpoints stay on a
/// machine).
namespace gradwire {

/// For what does not fit into a checkpoint's place.
[[noreturn]] inline void refuse_checkpoint(std::string_view reason) {
  throw Error(ErrorKind::kFailure, "load", "checkpoint", reason,
              "start the run afresh: without --resume");
}

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
    refuse_checkpoint("it ends too early");
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

/// What put_span wrote. Memory is taken as the elements come: a wrong length ends the stream first.
template <typename T>
std::vector<T> get_vector(std::istream& in) {
  constexpr std::uint64_t kPart = (1u << 20) / sizeof(T) + 1;
  const auto size = get<std::uint64_t>(in);
  std::vector<T> values;
  while (values.size() < size) {
    const std::size_t first = values.size();
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(kPart, size - first));
    values.resize(first + part);
    if (!in.read(reinterpret_cast<char*>(values.data() + first),
                 static_cast<std::streamsize>(part * sizeof(T))))
      refuse_checkpoint("it ends too early");
  }
  return values;
}

inline void put_text(std::ostream& out, std::string_view text) {
  put_span(out, std::span<const char>(text));
}

inline std::string get_text(std::istream& in) {
  const std::vector<char> text = get_vector<char>(in);
  return {text.begin(), text.end()};
}

template <class T>
void put_optional(std::ostream& out, const std::optional<T>& value) {
  put(out, static_cast<std::uint8_t>(value.has_value()));
  if (value) put(out, *value);
}

template <class T>
std::optional<T> get_optional(std::istream& in) {
  return get<std::uint8_t>(in) != 0 ? std::optional(get<T>(in)) : std::nullopt;
}

/// values = what put_span wrote, which must be as many.
inline void get_into(std::istream& in, std::span<float> values) {
  const std::vector<float> loaded = get_vector<float>(in);
  if (loaded.size() != values.size()) refuse_checkpoint("it belongs to another model or optimiser");
  std::copy(loaded.begin(), loaded.end(), values.begin());
}

}  // namespace gradwire
