#include "compressors/codecs/codecs.h"
#include "compressors/codecs/csr/layout.h"
#include "compressors/codecs/walked_codec.h"
#include "compressors/coding/index_walk.h"
#include "compressors/kernels/kernels.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "csr";
constexpr std::size_t kLargest = 0xFFFFFFFFu;

class CsrCodec final : public WalkedCodec<CsrCodec> {
 public:
  CsrCodec(double kept_ratio, bool masked, IndexFormat format)
      : kept_ratio_(kept_ratio), masked_(masked), format_(format) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    if (!masked_) return size_of(tensor.n, topk_count(tensor.n, kept_ratio_));
    // The mask is not known yet: any number of entries, whose indices are dearest all or half set.
    return CsrLayout(true, {.k = tensor.n}, most_index_bytes(tensor.n)).size({});
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return masked_ ? padded_to_8(8 * tensor.n)
                   : selection_scratch_size(tensor.n, topk_count(tensor.n, kept_ratio_));
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    refuse_beyond(kName, job.tensor, std::min(kLargest, largest_indexed(format_)));
    const std::size_t n = job.tensor.data.size();
    const Selected selected =
        masked_ ? take_masked(job, scratch)
                : select_largest(kName, job.tensor, topk_count(n, kept_ratio_), scratch, job.team);
    return write(job, selected);
  }

  std::size_t encode_with_residual(EncodeJob& job, std::span<float> residual,
                                   std::span<std::byte> scratch) const override {
    if (masked_) return WalkedCodec::encode_with_residual(job, residual, scratch);
    refuse_beyond(kName, job.tensor, std::min(kLargest, largest_indexed(format_)));
    const std::size_t k = topk_count(job.tensor.data.size(), kept_ratio_);
    // What is sent leaves nothing behind, as the selection leaves it.
    return write(job, select_largest_of_sum(kName, job, residual, k, scratch));
  }

  auto open(const DecodeJob& job, std::span<std::byte>) const {
    return parts_of(job.payload, job.values.size());
  }
  template <class Opened, class Visit>
  void walk(const DecodeJob& job, const Opened& parts, Visit&& visit) const {
    const std::size_t end =
        walk_indices(parts.format, parts.section, [&](std::size_t i, std::uint32_t index) {
          visit(index, checked_number<float>(kName, job.payload, parts.values + SentValues().at(i),
                                             SentValues().check));
        });
    if (end != parts.values)
      require_size(kName, job.payload,
                   layout(parts.format, parts.section.k, end - parts.section.offset).size({}));
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs& side) const override {
    check(payload, tensor, side);
    const Parts parts = parts_of(payload, tensor.n);
    return described(payload,
                     layout(parts.format, parts.section.k, parts.values - parts.section.offset),
                     extent_of(tensor));
  }

 private:
  struct Parts {
    IndexFormat format;
    IndexSection section;
    std::size_t values;  ///< byte at which they begin; they go to the end
  };

  bool tagged() const { return format_ != IndexFormat::kU32; }
  CsrLayout layout(IndexFormat format, std::size_t k, std::size_t column_bytes) const {
    return {tagged(), {format, k}, column_bytes};
  }
  std::size_t size_of(std::size_t n, std::size_t k) const {
    if (n > largest_indexed(format_)) return 0;  // encode refuses it
    return CsrLayout(tagged(), {.k = k}, max_index_bytes(format_, n, k)).size({});
  }
  std::size_t most_index_bytes(std::size_t n) const { return 4 * n + n / 8 + 8; }

  /// The elements of the mask, whatever their values.
  Selected take_masked(const EncodeJob& job, std::span<std::byte> scratch) const {
    const std::span<const float> data = job.tensor.data;
    require_finite(kName, job.tensor, kernels::max_magnitude_bits(data.data(), data.size()));
    const auto indices = view_as<std::uint32_t>(scratch, data.size());
    const std::span<float> values = {reinterpret_cast<float*>(scratch.data()) + data.size(),
                                     data.size()};
    const std::span<const std::uint8_t> mask = job.side.mask;
    GRADWIRE_ASSERT(mask.empty() || mask.size() == (data.size() + 7) / 8);
    std::size_t k = 0;
    for (std::size_t e = 0; e < data.size(); ++e) {
      if (!mask.empty() && (mask[e / 8] >> (e % 8) & 1) == 0) continue;
      indices[k] = static_cast<std::uint32_t>(e);
      values[k++] = data[e];
    }
    return {.indices = indices.first(k), .values = values.first(k)};
  }

  std::size_t write(EncodeJob& job, const Selected& selected) const {
    const std::size_t n = job.tensor.data.size(), k = selected.indices.size();
    const IndexFormat format = resolve_index_format(format_, selected.indices, n);
    const CsrLayout head(tagged());
    head.store<CsrLayout::kLength>(job.payload, n);
    head.store<CsrLayout::kCount>(job.payload, k);
    if (tagged()) head.store<CsrLayout::kFormat>(job.payload, format);
    const std::size_t column_bytes =
        encode_indices(format, selected.indices, n, job.payload.subspan(head.size({})));
    const CsrLayout whole = layout(format, k, column_bytes);
    GRADWIRE_ASSERT(job.payload.size() >= whole.size({}));
    if (k > 0)
      std::memcpy(job.payload.data() + whole.at<CsrLayout::kValues>({}), selected.values.data(),
                  selected.values.size_bytes());
    return job.written = whole.size({});
  }

  Parts parts_of(std::span<const std::byte> payload, std::size_t n) const {
    const CsrLayout head(tagged());
    require_head(kName, payload, head, {.n = n});
    const std::size_t k = head.load<CsrLayout::kCount>(payload.data());
    const IndexFormat format =
        tagged() ? static_cast<IndexFormat>(head.load<CsrLayout::kFormat>(payload.data()))
                 : format_;
    const std::size_t least = layout(format, k, 0).size({});
    require_header(kName, payload, least);
    const std::size_t values = layout(format, k, payload.size() - least).at<CsrLayout::kValues>({});
    return {format, {kName, payload.first(values), head.size({}), n, k}, values};
  }

  double kept_ratio_;
  bool masked_;
  IndexFormat format_;
};

OptionTable csr_options() {
  return {{.name = "sparsity",
           .type = OptionType::kNumber,
           .default_text = "0.9",
           .help = "share sp of the weights that training leaves out; 0.9 as in arXiv 2208.02507",
           .min = 0,
           .max = 1,
           .max_exclusive = true},
          {.name = "mask_ratio",
           .type = OptionType::kNumber,
           .default_text = "0.1",
           .help = "share r that is sent besides: ceil((1 - sp + r) n) entries, r = sp sends all",
           .min = 0,
           .max = 1},
          {.name = "positions",
           .type = OptionType::kChoice,
           .default_text = "largest",
           .help = "which elements are sent: those of largest magnitude, or those of the side mask "
                   "(Diff on Top-K-Weights), zeros too",
           .choices = {"largest", "mask"}},
          {.name = "indices",
           .type = OptionType::kChoice,
           .default_text = "u32",
           .help = "how columns are written; auto takes the fewest bytes",
           .choices = index_format_names()}};
}

}  // namespace

CodecRow csr_row() {
  return {{.name = std::string(kName),
           .summary = "one-row sparse records: columns and values",
           .source = "Qiu et al., ZeroFL, arXiv 2208.02507",
           .policy = AggregatePolicy::kGather,
           .unbiased = false,
           .options = csr_options(),
           .family = CodecFamily::kSparse},
          [](const OptionValues& options) -> CodecPtr {
            const double kept = 1.0 - options.number("sparsity") + options.number("mask_ratio");
            return std::make_shared<CsrCodec>(std::min(kept, 1.0),
                                              options.text("positions") == "mask",
                                              index_format_named(options.text("indices")));
          }};
}

}  // namespace gradwire::compressors
