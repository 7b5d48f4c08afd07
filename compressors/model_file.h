#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compressors/codec_plan.h"

/// A trained model as a file: its tensors by name, each as a payload that says itself how it is
/// read (codec `none`, fp32, or `lowbit`); docs/wire-formats-weights.md.
///
/// | at | field |
/// | 0 | magic "GRWM" |
/// | 4 | u16 version = 1, u16 tensors T |
/// | 8 | u64 seed, u64 hash of the scenario that it was trained by |
/// | 24 | T times: u8 length, name; u8 dimensions D, D x u32; u8 length, codec; u64 P, payload |
/// | end - 4 | u32 CRC-32C of all before |
namespace gradwire::compressors {

struct StoredTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::string codec = "none";
  std::vector<std::byte> payload = {};

  /// The product of the shape; 1 where that is empty.
  std::size_t elements() const;
};

struct ModelFile {
  std::uint64_t seed = 0;
  std::uint64_t scenario = 0;
  std::vector<StoredTensor> tensors = {};
};

/// Throws CodecError for NaN or Inf. Precondition: a codec that model files hold.
StoredTensor store_tensor(const TensorView& tensor, const CodecChoice& codec);
/// values[elements()] = decoded. Throws CodecError for a payload that the codec refuses.
void load_tensor(const StoredTensor& tensor, std::span<float> values);

/// Throws CodecError where a name, a shape or the number of tensors is beyond its field.
std::vector<std::byte> write_model_file(const ModelFile& file);

/// Any bytes are safe: nothing is allocated by a field before the checksum holds. Throws Error
/// naming `subject` ("models/run-1.grwm"), the byte and the reason.
ModelFile read_model_file(std::span<const std::byte> bytes, std::string_view subject);

}  // namespace gradwire::compressors
