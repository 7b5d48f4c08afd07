#include <algorithm>
#include <cmath>

#include "base/thread_team.h"
#include "compressors/arithmetic/selection.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/sparse_values.h"
#include "compressors/codecs/topk/layout.h"
#include "compressors/codecs/topk/sections.h"
#include "compressors/codecs/walked_codec.h"
#include "compressors/coding/index_coder.h"
#include "compressors/coding/index_walk.h"
#include "compressors/field_text.h"
#include "compressors/kernels/select.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "topk";
constexpr TopkPairs kPairs;

/// Over every number of entries from `fewest` to `most`.
std::size_t most_index_bytes(IndexFormat format, std::size_t n, std::size_t fewest,
                             std::size_t most) {
  if (fewest >= most) return max_index_bytes(format, n, most);
  if (format == IndexFormat::kDelta)  // more entries over gaps of no smaller sum
    return max_index_bytes(format, n + most - fewest, most);
  if (format == IndexFormat::kGolomb || format == IndexFormat::kGolombStored) {
    std::uint64_t bits = 0;
    for (int b = golomb_parameter(n, most); b <= golomb_parameter(n, fewest); ++b)
      bits = std::max(bits, golomb_max_bits(n + most - fewest, most, {b, 0}));
    return static_cast<std::size_t>((bits + 7) / 8) + 1;
  }
  if (format == IndexFormat::kAuto) return 4 * most;  // what the smallest is at most
  return max_index_bytes(format, n, most);
}

/// Scratch behind the selection's: what the decoder reads, or what the encoder did not send.
struct Arrays {
  std::span<std::uint32_t> indices;
  std::span<float> values;
  std::span<std::byte> rest;
};

class TopkCodec final : public WalkedCodec<TopkCodec>, public SelectsVelocities {
 public:
  TopkCodec(SparseCount count, SelectionRule rule, IndexFormat format, const std::string& values)
      : count_(count), rule_(rule), format_(format), values_(values) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }

  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    const std::size_t k = count_.of(tensor.n), most = most_selected(tensor.n, k, rule_);
    if (pairs()) return TopkPairs(most).size({});
    const std::size_t fewest = rule_.sampled ? std::min(k, fewest_sampled(k)) : k;
    std::size_t values = 0;  // a section's size need not grow with every element
    for (const std::size_t entries : {fewest, most})
      values = std::max(values, values_.max_size(entries));
    return TopkSections({}, most_index_bytes(format_, tensor.n, fewest, most), {}, values).size({});
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    const std::size_t k = count_.of(tensor.n), most = most_selected(tensor.n, k, rule_);
    const std::size_t selection = selection_scratch_size(tensor.n, k, rule_);
    if (pairs()) return selection;
    return selection + 2 * padded_to_8(4 * most) + values_.scratch_size(most);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const std::size_t k = checked_count(job);
    const Selected selected = select_largest(kName, job.tensor, k, scratch, job.team, rule_);
    return job.written = pairs() ? write_pairs(job, selected)
                                 : write_sections(job, selected, arrays(job.tensor, scratch), {});
  }

  std::size_t encode_with_residual(EncodeJob& job, std::span<float> residual,
                                   std::span<std::byte> scratch) const override {
    return encode_sum(job, residual, scratch, nullptr);
  }
  std::size_t encode_velocity(EncodeJob& job, const VelocityStep& step, std::span<float> residual,
                              std::span<std::byte> scratch) const override {
    return encode_sum(job, residual, scratch, &step);
  }

  // All entries are checked before any value is touched.
  auto open(const DecodeJob& job, std::span<std::byte> scratch) const {
    return checked_entries(job, scratch);
  }
  template <class Opened, class Visit>
  void walk(const DecodeJob&, const Opened& entries, Visit&& visit) const {
    for (std::size_t i = 0; i < entries.k; ++i) visit(entries.index(i), entries.value(i));
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs& side) const override;

 private:
  std::size_t encode_sum(EncodeJob& job, std::span<float> residual, std::span<std::byte> scratch,
                         const VelocityStep* step) const {
    const std::size_t k = checked_count(job);
    const Selected selected = select_largest_of_sum(kName, job, residual, k, scratch, rule_, step);
    if (pairs()) return job.written = write_pairs(job, selected);
    const Arrays work = arrays(job.tensor, scratch);
    const auto left =
        values_.plain() ? std::span<float>() : work.values.first(selected.values.size());
    job.written = write_sections(job, selected, work, left);
    for (std::size_t i = 0; i < left.size(); ++i) residual[selected.indices[i]] = left[i];
    return job.written;
  }

  /// Checked entries: pairs in the payload, or arrays in scratch.
  struct Entries {
    std::size_t k = 0;
    const std::byte* pairs = nullptr;
    std::span<const std::uint32_t> indices = {};
    std::span<const float> values = {};
    IndexFormat format = IndexFormat::kU32;
    std::size_t values_at = 0;
    std::uint32_t index(std::size_t i) const {
      return pairs == nullptr
                 ? indices[i]
                 : kPairs.section<TopkPairs::kEntries>().load<TopkPairs::kIndex>(pairs, i);
    }
    float value(std::size_t i) const {
      return pairs == nullptr
                 ? values[i]
                 : kPairs.section<TopkPairs::kEntries>().load<TopkPairs::kValue>(pairs, i);
    }
  };

  bool pairs() const { return format_ == IndexFormat::kU32 && values_.plain(); }

  Arrays arrays(const TensorSpec& tensor, std::span<std::byte> scratch) const {
    const std::size_t k = count_.of(tensor.n), most = most_selected(tensor.n, k, rule_);
    const std::size_t array = padded_to_8(4 * most);
    const auto bytes = scratch.subspan(selection_scratch_size(tensor.n, k, rule_));
    return {view_as<std::uint32_t>(bytes, most), view_as<float>(bytes.subspan(array), most),
            bytes.subspan(2 * array)};
  }

  std::size_t checked_count(const EncodeJob& job) const {
    const std::size_t n = job.tensor.data.size();
    GRADWIRE_ASSERT(job.payload.size() >= max_encoded_size(n));
    if (format_ != IndexFormat::kAuto && n > largest_indexed(format_))
      refuse_tensor(kName, job.tensor.name, "it has more elements than its index format can name");
    return count_.of(n);
  }

  static std::size_t write_pairs(EncodeJob& job, const Selected& selected) {
    const std::size_t k = selected.indices.size();
    kPairs.store<TopkPairs::kCount>(job.payload, k);
    std::byte* entries = job.payload.data();
    for_ranges(job.team, k, 16, 32768, [&](std::size_t begin, std::size_t end) {
      kernels::interleave_entries(
          selected.indices.data() + begin, selected.values.data() + begin, end - begin,
          entries + kPairs.entry_at<TopkPairs::kEntries, TopkPairs::kIndex>(begin));
    });
    return TopkPairs(k).size({});
  }

  std::size_t write_sections(EncodeJob& job, const Selected& selected, const Arrays& work,
                             std::span<float> left) const {
    const std::size_t n = job.tensor.data.size();
    const IndexFormat format = resolve_index_format(format_, selected.indices, n);
    const TopkSections head(format);
    head.store<TopkSections::kCount>(job.payload, selected.indices.size());
    head.store<TopkSections::kFormat>(job.payload, format);
    std::size_t at = head.size({});
    at += encode_indices(format, selected.indices, n, job.payload.subspan(at));
    return at + values_.encode(job, selected.values, job.payload.subspan(at), left, work.rest);
  }

  Entries checked_entries(const DecodeJob& job, std::span<std::byte> scratch) const {
    const std::size_t n = job.values.size();
    if (!pairs()) return checked_sections(job, scratch);
    require_head(kName, job.payload, kPairs, {.n = n});
    const std::size_t k = kPairs.load<TopkPairs::kCount>(job.payload.data());
    require_size(kName, job.payload, TopkPairs(k).size({}));
    const Entries entries{
        .k = k,
        .pairs = job.payload.data() + kPairs.entry_at<TopkPairs::kEntries, TopkPairs::kIndex>(0)};
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < k; ++i) {
      const std::uint32_t index = entries.index(i);
      if (index < next || index >= n || !std::isfinite(entries.value(i)))
        refuse_entry(kName, job.payload, kPairs.entry_at<TopkPairs::kEntries, TopkPairs::kIndex>(i),
                     index >= n     ? index_detail::kBeyond
                     : index < next ? index_detail::kDisorder
                                    : kNoFiniteValue);
      next = std::uint64_t{index} + 1;
    }
    return entries;
  }

  Entries checked_sections(const DecodeJob& job, std::span<std::byte> scratch) const {
    const std::size_t n = job.values.size();
    const Arrays work = arrays(n, scratch);
    const TopkSections head(format_);
    require_head(kName, job.payload, head, {.n = n});
    // The scratch holds so many as these options let an encoder send.
    const std::size_t k = checked_number<std::uint32_t>(kName, job.payload, 0, CountsEntries(),
                                                        {.n = work.indices.size()});
    const auto format =
        static_cast<IndexFormat>(head.load<TopkSections::kFormat>(job.payload.data()));
    const auto indices = work.indices.first(k);
    const auto values = work.values.first(k);
    const std::size_t at = decode_indices(
        format, {.codec = kName, .payload = job.payload, .offset = head.size({}), .n = n, .k = k},
        indices);
    values_.decode(kName, job, job.payload.subspan(at), values, work.rest);
    return {.k = k, .indices = indices, .values = values, .format = format, .values_at = at};
  }

  SparseCount count_;
  SelectionRule rule_;
  IndexFormat format_;
  ValueSection values_;
};

std::vector<PayloadField> TopkCodec::explain(std::span<const std::byte> payload,
                                             const TensorSpec& tensor,
                                             const SideInputs& side) const {
  std::vector<std::uint64_t> scratch(scratch_size(tensor) / 8 + 1);
  std::vector<float> values(tensor.n);
  const Entries entries = checked_entries({.payload = payload, .side = side, .values = values},
                                          std::as_writable_bytes(std::span(scratch)));
  const auto index = [&](std::size_t i) { return std::to_string(entries.index(i)); };
  const auto value = [&](std::size_t i) { return float_text(entries.value(i)); };
  if (pairs()) return described(payload, TopkPairs(entries.k), extent_of(tensor));
  const std::size_t indices_at = TopkSections(entries.format).size({});
  const TopkSections sections({entries.format, entries.k}, entries.values_at - indices_at,
                              {entries.k, values_.plain()}, payload.size() - entries.values_at);
  std::vector<PayloadField> fields = described(payload, sections, extent_of(tensor));
  for (PayloadField& field : fields)
    if (field.name == "indices") field.value = first_few(entries.k, index);
  if (fields.back().name == "values") fields.back().value = first_few(entries.k, value);
  return fields;
}

OptionTable options() {
  OptionTable table = {
      ratio_option("0.01",
                   "share of the elements that is sent: k = max(1, ceil(ratio n)); 1 % as in "
                   "arXiv 2205.05632"),
      k_option()};
  for (OptionSpec& option : selection_options("exact")) table.push_back(std::move(option));
  table.push_back({.name = "indices",
                   .type = OptionType::kChoice,
                   .default_text = "u32",
                   .help = "code of the indices; auto takes the smallest, tensor by tensor",
                   .choices = index_format_names()});
  table.push_back({.name = "values",
                   .type = OptionType::kText,
                   .default_text = "f32",
                   .help = "f32, or the dense codec that encodes the k values"});
  return table;
}

}  // namespace

CodecRow topk_row() {
  return {
      {.name = std::string(kName),
       .summary = "the k values of largest magnitude with their indices; ties to the lower index",
       .source = "Aji and Heafield, arXiv 1704.05021; Li et al., COMP-AMS, arXiv 2205.05632",
       .policy = AggregatePolicy::kGather,
       .unbiased = false,
       .options = options(),
       .family = CodecFamily::kSparse},
      [](const OptionValues& options) -> CodecPtr {
        return std::make_shared<TopkCodec>(sparse_count(options), selection_rule(options),
                                           index_format_named(options.text("indices")),
                                           options.text("values"));
      }};
}

}  // namespace gradwire::compressors
