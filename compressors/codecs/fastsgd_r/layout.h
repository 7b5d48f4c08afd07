#pragma once
#include "compressors/layout/index_sections.h"

/// The payload of `fastsgd_r`. Delta keys and the values are one stream of bits; other keys have
/// their format in front of them, and keys and values are on whole bytes each.
namespace gradwire::compressors {

struct ShownLevels {
  std::size_t k = 0;
  std::string type() const { return counted("sign and level", k); }
  std::string value() const { return {}; }
};
struct ShownKeysAndLevels {
  std::size_t k = 0;
  std::uint64_t value_bit = 0;  ///< of the payload: where the values begin
  std::string type() const {
    return counted("delta", k).append(", ").append(ShownLevels{k}.type());
  }
  std::string value() const { return "values from bit " + std::to_string(value_bit); }
};

struct FastSgdLayout
    : Layout<Field<"kept", std::uint32_t, CountsEntries>,
             Field<"scale", float, FiniteScale<"a value">>,
             Stream<"keys and values", ShownKeysAndLevels>, Optional<IndexFormatField>,
             Stream<"keys", ShownIndices>, Stream<"values", ShownLevels>> {
  enum Section { kKept, kScale, kKeysAndValues, kFormat, kKeys, kValues };
  /// Its head.
  explicit FastSgdLayout(bool delta) : Layout({}, {}, {}, {.present = !delta}, {}, {}) {}
  /// Of delta keys.
  FastSgdLayout(std::size_t bytes, const ShownKeysAndLevels& shown)
      : Layout({}, {}, {bytes, shown}, {}, {}, {}) {}
  /// Of other keys.
  FastSgdLayout(std::size_t key_bytes, const ShownIndices& keys, std::size_t value_bytes)
      : Layout({}, {}, {}, {.present = true}, {key_bytes, keys}, {value_bytes, {keys.k}}) {}
};

}  // namespace gradwire::compressors
