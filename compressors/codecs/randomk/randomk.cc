#include <cmath>
#include <limits>

#include "base/thread_team.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/randomk/arithmetic.h"
#include "compressors/codecs/sparse_values.h"
#include "compressors/field_text.h"
#include "compressors/kernels/kernels.h"
#include "compressors/payload.h"

/// The payload: u64 key, then f32[k]: value i is element permuted_index(i) of the tensor, for the
/// permutation of [0, n) whose words are those of the Philox stream {seed = key, step, worker,
/// tensor = 0}. k follows from n and the options, so nothing else is on the wire.
namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "randomk";
constexpr std::size_t kKeyBytes = 8;
constexpr std::size_t kSharedEntries = 16384;

class RandomkCodec final : public Codec, public NamesElements {
 public:
  RandomkCodec(SparseCount count, bool shared, bool unbiased)
      : count_(count), shared_(shared), unbiased_(unbiased) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return kKeyBytes + 4 * count_.of(tensor.n);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return 4 * std::size_t{permutation_words(permutation_rule(tensor.n))};
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const std::span<const float> data = job.tensor.data;
    const std::size_t k = count_.of(data.size()), size = max_encoded_size(data.size());
    GRADWIRE_ASSERT(job.payload.size() >= size);
    if (data.size() > std::numeric_limits<std::uint32_t>::max())
      refuse_tensor(kName, job.tensor.name, "it has more elements than a 32-bit index can name");
    require_finite(kName, job.tensor, kernels::max_magnitude_bits(data.data(), data.size()));
    const std::uint64_t key = permutation_key(job.draws.stream, job.draws.first_element, shared_);
    store_field(job.payload, 0, key);
    const float scale =
        unbiased_ && k > 0
            ? static_cast<float>(static_cast<double>(data.size()) / static_cast<double>(k))
            : 1.0f;
    for_each(data.size(), k, key, scratch, job.team, [&](std::size_t i, std::uint32_t e) {
      const float value = data[e] * scale;
      if (!std::isfinite(value))
        refuse_tensor(kName, job.tensor.name,
                      "element " + std::to_string(e) + " times n / k is infinite");
      store_field(job.payload, kKeyBytes + 4 * i, value);
    });
    return job.written = size;
  }

  void decode(const DecodeJob& job, std::span<std::byte> scratch) const override {
    check(job);
    clear_values(job.values, job.team);
    visit(job, scratch, [&](float value, std::uint32_t e) { job.values[e] = value; });
  }
  void decode_accumulate(const DecodeJob& job, float factor,
                         std::span<std::byte> scratch) const override {
    check(job);
    visit(job, scratch, [&](float value, std::uint32_t e) { job.values[e] += factor * value; });
  }
  void clear_sent(const DecodeJob& job, std::span<std::byte> scratch) const override {
    check(job);
    visit(job, scratch, [&](float, std::uint32_t e) { job.values[e] = 0.0f; });
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs& side) const override {
    std::vector<float> values(tensor.n);
    check({.payload = payload, .side = side, .values = values});
    const std::size_t k = count_.of(tensor.n);
    const auto value = [&](std::size_t i) {
      return float_text(load_field<float>(payload, kKeyBytes + 4 * i));
    };
    return {{0, kKeyBytes, "key", "u64", std::to_string(load_field<std::uint64_t>(payload, 0))},
            {kKeyBytes, 4 * k, "values", counted("f32", k), first_few(k, value)}};
  }

 private:
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

  template <class Visit>
  void visit(const DecodeJob& job, std::span<std::byte> scratch, Visit&& visit) const {
    const std::size_t n = job.values.size();
    for_each(n, count_.of(n), load_field<std::uint64_t>(job.payload, 0), scratch, job.team,
             [&](std::size_t i, std::uint32_t e) {
               visit(load_field<float>(job.payload, kKeyBytes + 4 * i), e);
             });
  }

  void check(const DecodeJob& job) const {
    const std::size_t size = max_encoded_size(job.values.size());
    if (job.values.size() > std::numeric_limits<std::uint32_t>::max())
      refuse_payload(kName, job.payload.size(), "32-bit indices cannot name the tensor's elements");
    require_size(kName, job.payload, size);
    for (std::size_t at = kKeyBytes; at < size; at += 4)
      if (!std::isfinite(load_field<float>(job.payload, at)))
        refuse_payload(kName, size, "byte " + std::to_string(at) + " begins no finite value");
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
