#pragma once
#include "compressors/layout/index_sections.h"

/// The payload of `topk` with any other indices or values: their format, the indices on whole
/// bytes, and the values: f32, or the bare payload of the dense codec for a tensor of k elements.
namespace gradwire::compressors {

struct ShownValues {
  std::size_t k = 0;
  bool plain = true;
  std::string type() const { return plain ? counted("f32", k) : "payload of a dense codec"; }
  std::string value() const { return {}; }
};

struct TopkSections : Layout<Field<"count", std::uint32_t, CountsEntries>, IndexFormatField,
                             Stream<"indices", ShownIndices>, Stream<"values", ShownValues>> {
  enum Section { kCount, kFormat, kIndices, kValues };
  explicit TopkSections(IndexFormat expected) : Layout({}, {{expected}}, {}, {}) {}
  TopkSections(const ShownIndices& indices, std::size_t index_bytes, const ShownValues& values,
               std::size_t value_bytes)
      : Layout({}, {{indices.format}}, {index_bytes, indices}, {value_bytes, values}) {}
};

}  // namespace gradwire::compressors
