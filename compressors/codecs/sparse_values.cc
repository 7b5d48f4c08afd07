#include "compressors/codecs/sparse_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compressors/codecs/codecs.h"
#include "compressors/layout/sections.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"

namespace gradwire::compressors {
namespace {

CodecPtr values_codec(const std::string& name) {
  if (name == "f32") return nullptr;
  CodecPtr codec = make_codec(name);
  const CodecInfo* info = find_codec(name);
  if (info != nullptr && info->family == CodecFamily::kDense && !info->needs_mask &&
      !info->needs_shape && codec->state_size(TensorSpec(1024)) == 0)
    return codec;
  throw Error(ErrorKind::kUsage, "make a sparse codec", "values \"" + name + "\"",
              "values are f32, or a dense codec that needs neither state, shape nor mask");
}

}  // namespace

std::size_t topk_count(std::size_t n, double ratio) {
  if (n == 0) return 0;
  const double wanted = std::ceil(ratio * static_cast<double>(n) * (1.0 - 1e-12));
  return std::clamp<std::size_t>(static_cast<std::size_t>(wanted), 1, n);
}

std::size_t floor_count(std::size_t n, double ratio) {
  if (n == 0) return 0;
  const double wanted = std::floor(ratio * static_cast<double>(n) * (1.0 + 1e-12));
  return std::clamp<std::size_t>(static_cast<std::size_t>(wanted), 1, n);
}

std::size_t SparseCount::of(std::size_t n) const {
  return k > 0 ? std::min(k, n) : topk_count(n, ratio);
}

OptionSpec ratio_option(std::string default_text, std::string help) {
  return {.name = "ratio",
          .type = OptionType::kNumber,
          .default_text = std::move(default_text),
          .help = std::move(help),
          .min = 0,
          .max = 1,
          .min_exclusive = true};
}

OptionSpec k_option() {
  return {.name = "k",
          .type = OptionType::kInteger,
          .default_text = "0",
          .help = "number of elements that is sent, whatever the tensor's size; 0 = by ratio",
          .min = 0,
          .max = 4294967295.0};
}

OptionTable selection_options(std::string default_selection) {
  return {{.name = "selection",
           .type = OptionType::kChoice,
           .default_text = std::move(default_selection),
           .help = "exact: the k of largest magnitude; sampled: those above the threshold of a "
                   "sample, 0.8 k to 1.3 k of them (arXiv 1712.01887, section 3)",
           .choices = {"exact", "sampled"}},
          {.name = "sample",
           .type = OptionType::kNumber,
           .default_text = "0.001",
           .help = "share of the elements in the sample of selection = sampled, which has 160 / "
                   "ratio elements at least; 0.1 % to 1 % in arXiv 1712.01887",
           .min = 0,
           .max = 1,
           .min_exclusive = true}};
}

SparseCount sparse_count(const OptionValues& options) {
  return {static_cast<std::size_t>(options.integer("k")), options.number("ratio")};
}

SelectionRule selection_rule(const OptionValues& options) {
  return {options.text("selection") == "sampled", options.number("sample")};
}

void clear_values(std::span<float> values, ThreadTeam* team) {
  for_ranges(team, values.size(), 1024, kRangeElements, [&](std::size_t begin, std::size_t end) {
    if (begin < end) std::memset(values.data() + begin, 0, (end - begin) * sizeof(float));
  });
}

ValueSection::ValueSection(const std::string& name) : codec_(values_codec(name)) {}

std::size_t ValueSection::max_size(std::size_t k) const {
  return plain() ? SentValues{.count = {k}}.bytes({}) : codec_->max_encoded_size(k);
}

std::size_t ValueSection::scratch_size(std::size_t k) const {
  return plain() ? 0 : codec_->scratch_size(k);
}

std::size_t ValueSection::encode(const EncodeJob& job, std::span<const float> values,
                                 std::span<std::byte> section, std::span<float> left,
                                 std::span<std::byte> scratch) const {
  if (plain()) {
    if (!values.empty()) std::memcpy(section.data(), values.data(), values.size_bytes());
    std::fill(left.begin(), left.end(), 0.0f);
    return values.size_bytes();
  }
  Draws draws = job.draws;
  draws.injected = draws.injected.first(std::min(draws.injected.size(), values.size()));
  EncodeJob inner{.tensor = {.name = job.tensor.name, .shape = {}, .data = values},
                  .side = {},
                  .draws = draws,
                  .state = {},
                  .payload = section,
                  .team = job.team};
  const std::size_t size = codec_->encode(inner, scratch);
  if (left.empty()) return size;
  std::copy(values.begin(), values.end(), left.begin());
  codec_->decode_accumulate({.payload = section.first(size), .side = {}, .values = left}, -1.0f,
                            scratch);
  return size;
}

void ValueSection::decode(std::string_view codec, const DecodeJob& job,
                          std::span<const std::byte> section, std::span<float> values,
                          std::span<std::byte> scratch) const {
  if (!plain()) {
    codec_->decode({.payload = section, .side = {}, .values = values}, scratch);
    return;
  }
  const std::size_t at = job.payload.size() - section.size();
  const SentValues sent{.count = {values.size()}};
  require_size(codec, job.payload, at + sent.bytes({}));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = checked_number<float>(codec, job.payload, at + sent.at(i), sent.check);
}

}  // namespace gradwire::compressors
