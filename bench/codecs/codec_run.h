#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/codecs/codec_cases.h"
#include "bench/codecs/page_buffer.h"
#include "bench/codecs/tensors.h"

namespace gradwire::bench {

/// The arrays that all cases of one size share: a tensor and the values decoded from it.
class Tensors {
 public:
  Tensors(std::size_t n, std::uint64_t seed);
  std::size_t elements() const { return input_.as<float>().size(); }
  /// The input, filled as `kind` asks.
  std::span<const float> input(TensorKind kind, ThreadTeam* team);
  std::span<float> values() const { return values_.as<float>(); }
  std::span<const std::uint8_t> mask();

 private:
  std::uint64_t seed_;
  PageBuffer input_, values_;
  bool filled_ = false;
  TensorKind kind_ = TensorKind::kGradient;
  std::vector<std::uint8_t> mask_;
};

/// One codec with the buffers of its calls on one tensor. The calls allocate nothing. Not movable:
/// jobs point into it.
class CodecRun {
 public:
  /// `tensors` and `team` must outlive this.
  CodecRun(const CodecCase& codec_case, Tensors& tensors, ThreadTeam* team);
  CodecRun(const CodecRun&) = delete;
  CodecRun& operator=(const CodecRun&) = delete;

  void encode();
  void decode();      ///< what encode wrote last
  void accumulate();  ///< the same, added to the values with factor 0.5
  void call(CodecOperation operation);

  /// The tensor's shape: rows and columns.
  std::span<const std::int64_t> shape() const { return shape_; }
  /// What encode wrote last.
  std::span<const std::byte> payload() const { return job_.payload.first(job_.written); }
  double payload_bytes_per_element() const;
  /// Share of the values decoded last that is not zero.
  double density() const;

 private:
  compressors::DecodeJob decode_job() const;

  const CodecCase& case_;
  compressors::CodecPtr codec_;
  std::span<float> values_;
  std::vector<std::int64_t> shape_;
  PageBuffer payload_, scratch_, state_, residual_;
  compressors::EncodeJob job_;
};

}  // namespace gradwire::bench
