#include <cmath>
#include <limits>

#include "base/thread_team.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/randomk/arithmetic.h"
#include "compressors/codecs/randomk/layout.h"
#include "compressors/codecs/sparse_values.h"
#include "compressors/codecs/walked_codec.h"
#include "compressors/kernels/kernels.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "randomk";
constexpr std::size_t kSharedEntries = 16384;

class RandomkCodec final : public WalkedCodec<RandomkCodec> {
 public:
  RandomkCodec(SparseCount count, bool shared, bool unbiased)
      : count_(count), shared_(shared), unbiased_(unbiased) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return static_cast<std::size_t>(layout(tensor.n).size({}));
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return 4 * std::size_t{permutation_words(permutation_rule(tensor.n))};
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const std::span<const float> data = job.tensor.data;
    const std::size_t k = count_.of(data.size()), size = max_encoded_size(data.size());
    GRADWIRE_ASSERT(job.payload.size() >= size);
    require_countable(kName, job.tensor.name, data.size());
    require_finite(kName, job.tensor, kernels::max_magnitude_bits(data.data(), data.size()));
    const std::uint64_t key = permutation_key(job.draws.stream, job.draws.first_element, shared_);
    const RandomkLayout parts = layout(data.size());
    parts.store<RandomkLayout::kKey>(job.payload, key);
    std::byte* values = job.payload.data() + parts.at<RandomkLayout::kValues>({});
    const float scale =
        unbiased_ && k > 0
            ? static_cast<float>(static_cast<double>(data.size()) / static_cast<double>(k))
            : 1.0f;
    for_each(data.size(), k, key, scratch, job.team, [&](std::size_t i, std::uint32_t e) {
      const float value = data[e] * scale;
      if (!std::isfinite(value))
        refuse_tensor(kName, job.tensor.name,
                      "element " + std::to_string(e) + " times n / k is infinite");
      store_field({values + SentValues().at(i), sizeof value}, 0, value);
    });
    return job.written = size;
  }

  std::span<std::byte> open(const DecodeJob& job, std::span<std::byte> scratch) const {
    if (job.values.size() > std::numeric_limits<std::uint32_t>::max())
      refuse_payload(kName, job.payload.size(), "32-bit indices cannot name the tensor's elements");
    require_layout(kName, job.payload, layout(job.values.size()), {});
    return scratch;
  }
  template <class Visit>
  void walk(const DecodeJob& job, std::span<std::byte> scratch, Visit&& visit) const {
    const std::size_t n = job.values.size();
    const RandomkLayout parts = layout(n);
    const std::byte* values = job.payload.data() + parts.at<RandomkLayout::kValues>({});
    for_each(n, count_.of(n), parts.load<RandomkLayout::kKey>(job.payload.data()), scratch,
             job.team, [&](std::size_t i, std::uint32_t e) {
               visit(e, number_at<float>(values + SentValues().at(i)));
             });
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs& side) const override {
    check(payload, tensor, side);
    return described(payload, layout(tensor.n), extent_of(tensor));
  }

 private:
  RandomkLayout layout(std::size_t n) const { return RandomkLayout(count_.of(n)); }

  /// body(i, element i of the permutation) for i < k. Elements differ, so any threads may do it.
  template <class Body>
  static void for_each(std::size_t n, std::size_t k, std::uint64_t key,
                       std::span<std::byte> scratch, ThreadTeam* team, Body&& body) {
    const PermutationRule rule = permutation_rule(n);
    const auto words = view_as<std::uint32_t>(scratch, permutation_words(rule));
    if (k == 0) return;
    if (n == 1) return body(std::size_t{0}, 0u);  // where any permutation sends it
    kernels::philox_words({.seed = key}, 0, words.size() / 4, words.data());
    for_ranges(team, k, 1, kSharedEntries, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        body(i, permuted_index(static_cast<std::uint32_t>(i), rule, words.data()));
    });
  }

  SparseCount count_;
  bool shared_;
  bool unbiased_;
};

}  // namespace

CodecRow randomk_row() {
  return {{.name = std::string(kName),
           .summary = "k values at random places, without replacement, that both sides know by key",
           .source = "Stich, Cordonnier, Jaggi, arXiv 1809.07599; Konecny and others, "
                     "arXiv 1610.05492 (random masks by seed)",
           .policy = AggregatePolicy::kGather,
           .unbiased = false,
           .options = {ratio_option("0.01",
                                    "share of the elements that is sent: k = max(1, ceil(ratio "
                                    "n)); 1 % as in arXiv 2205.05632 for topk"),
                       k_option(),
                       {.name = "shared",
                        .type = OptionType::kBoolean,
                        .default_text = "true",
                        .help = "all workers of a step choose the same elements"},
                       {.name = "unbiased",
                        .type = OptionType::kBoolean,
                        .default_text = "false",
                        .help = "multiply the values by n / k; not with error feedback, which "
                                "needs a contraction (arXiv 1809.07599)"}},
           .family = CodecFamily::kSparse},
          [](const OptionValues& options) -> CodecPtr {
            return std::make_shared<RandomkCodec>(sparse_count(options), options.boolean("shared"),
                                                  options.boolean("unbiased"));
          }};
}

}  // namespace gradwire::compressors
