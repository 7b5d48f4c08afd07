#include "trainers/methods/lowbit_projection.h"

#include <algorithm>
#include <cstddef>

#include "base/error.h"

namespace gradwire::methods {
namespace {

using compressors::Codec;
using compressors::SideInputs;
using compressors::TensorView;

/// All tensors as one, for the scale that they share.
float shared_scale(const Codec& codec, std::span<const LowbitTensor> tensors) {
  std::vector<float> all;
  for (const LowbitTensor& tensor : tensors)
    all.insert(all.end(), tensor.values.begin(), tensor.values.end());
  return codec.local_scale({.name = "model", .shape = {}, .data = all});
}

void project_one(const Codec& codec, const LowbitTensor& tensor, const SideInputs& side) {
  const TensorView view{.name = "", .shape = tensor.shape, .data = tensor.values};
  std::vector<std::byte> payload(codec.max_encoded_size(view));
  std::vector<std::uint64_t> words((codec.scratch_size(view) + 7) / 8);
  const auto scratch = std::as_writable_bytes(std::span(words));
  compressors::EncodeJob job{.tensor = view, .side = side, .payload = payload};
  const std::size_t size = codec.encode(job, scratch);
  codec.decode({.payload = std::span<const std::byte>(payload).first(size),
                .side = side,
                .values = tensor.projected,
                .shape = tensor.shape},
               scratch);
}

}  // namespace

void LowbitProjection::project(std::span<const LowbitTensor> tensors) const {
  if (tensors.empty()) return;  // the table may then be none of the codec's
  const compressors::CodecPtr codec = compressors::make_codec(
      "lowbit", {{"table", table}, {"tie", tie}, {"iterations", std::to_string(iterations)}});
  SideInputs side;
  if (codec->wants_shared_scale()) side.shared_scale = shared_scale(*codec, tensors);
  for (const LowbitTensor& tensor : tensors) project_one(*codec, tensor, side);
}

compressors::CodecChoice LowbitProjection::stored() const {
  return {"lowbit", {{"table", table}, {"tie", tie == "model" ? "layer" : tie}}};
}

const std::vector<std::string>& lowbit_choices(std::string_view option) {
  const OptionTable& options = compressors::find_codec("lowbit")->options;
  const auto found = std::ranges::find(options, option, &OptionSpec::name);
  GRADWIRE_ASSERT(found != options.end());
  return found->choices;
}

}  // namespace gradwire::methods
