#pragma once
#include <cstddef>
#include <cstdint>

/// Codecs as people write them today, with LibTorch operations. No LibTorch headers here: the
/// program loads the module that has them, and never links it.
namespace gradwire::bench {

/// One codec on one tensor, with the same options and on as many threads as ours.
class TorchTwin {
 public:
  virtual ~TorchTwin() = default;
  virtual void encode() = 0;
  virtual void decode() = 0;  ///< what encode left last
};

struct TorchTwinSpec {
  const char* label = "";         ///< as CodecCase::label
  const float* values = nullptr;  ///< [rows, columns]; must outlive the twin
  std::int64_t rows = 0, columns = 0;
  int threads = 1;
};

/// The module's symbol. Null where there is no twin of that label.
using TorchTwinFactory = TorchTwin* (*)(const TorchTwinSpec& spec);
inline constexpr const char* kTorchTwinSymbol = "gradwire_make_torch_twin";

}  // namespace gradwire::bench
