#include "compressors/decorators/rules.h"

#include <algorithm>
#include <map>

namespace gradwire::compressors {
namespace {

int weakness(AggregatePolicy policy) {
  switch (policy) {
    case AggregatePolicy::kSum:
      return 0;
    case AggregatePolicy::kRequantize:
      return 1;
    case AggregatePolicy::kGather:
      return 2;
    case AggregatePolicy::kServer:
      return 3;
  }
  return 3;
}

using RuleList = std::vector<std::pair<TensorRule, CodecPtr>>;

AggregatePolicy weakest(const RuleList& rules, const Codec& otherwise) {
  AggregatePolicy policy = otherwise.policy();
  for (const auto& [rule, codec] : rules)
    if (weakness(codec->policy()) > weakness(policy)) policy = codec->policy();
  return policy;
}

class RulesCodec final : public Codec {
 public:
  RulesCodec(RuleList rules, CodecPtr otherwise)
      : rules_(std::move(rules)),
        otherwise_(std::move(otherwise)),
        policy_(weakest(rules_, *otherwise_)),
        name_(std::string(otherwise_->name()) + "+rules") {}

  const Codec& chosen(const TensorSpec& tensor) const {
    for (const auto& [rule, codec] : rules_)
      if (rule.matches(tensor)) return *codec;
    return *otherwise_;
  }

  /// The same rules around changed codecs; what was one codec stays one.
  CodecPtr with_each(const CodecChange& change) const {
    std::map<const Codec*, CodecPtr> changed;
    const auto once = [&](const CodecPtr& codec) {
      CodecPtr& own = changed[codec.get()];
      if (!own) own = change(codec);
      return own;
    };
    RuleList rules = rules_;
    for (auto& [rule, codec] : rules) codec = once(codec);
    return std::make_shared<RulesCodec>(std::move(rules), once(otherwise_));
  }

  std::string_view name() const override { return name_; }
  AggregatePolicy policy() const override { return policy_; }
  bool wants_shared_scale() const override {
    return otherwise_->wants_shared_scale() ||
           std::any_of(rules_.begin(), rules_.end(),
                       [](const auto& rule) { return rule.second->wants_shared_scale(); });
  }
  float local_scale(const TensorView& tensor) const override {
    return chosen(tensor).local_scale(tensor);
  }
  float proposed_scale(const TensorView& tensor, std::span<const std::byte> state,
                       std::span<std::byte> scratch) const override {
    return chosen(tensor).proposed_scale(tensor, state, scratch);
  }
  void encode_terms(const TermsJob& job, std::span<std::byte> scratch) const override {
    chosen(job.tensor).encode_terms(job, scratch);
  }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return chosen(tensor).max_encoded_size(tensor);
  }
  std::optional<PackedElements> packed_elements(const TensorSpec& tensor) const override {
    return chosen(tensor).packed_elements(tensor);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return chosen(tensor).scratch_size(tensor);
  }
  std::size_t state_size(const TensorSpec& tensor) const override {
    return chosen(tensor).state_size(tensor);
  }
  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    return chosen(job.tensor).encode(job, scratch);
  }
  std::size_t encode_with_residual(EncodeJob& job, std::span<float> residual,
                                   std::span<std::byte> scratch) const override {
    return chosen(job.tensor).encode_with_residual(job, residual, scratch);
  }
  void decode(const DecodeJob& job, std::span<std::byte> scratch) const override {
    chosen(job.spec()).decode(job, scratch);
  }
  void decode_accumulate(const DecodeJob& job, float factor,
                         std::span<std::byte> scratch) const override {
    chosen(job.spec()).decode_accumulate(job, factor, scratch);
  }
  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs& side) const override {
    return chosen(tensor).explain(payload, tensor, side);
  }

 private:
  RuleList rules_;
  CodecPtr otherwise_;
  AggregatePolicy policy_;
  std::string name_;
};

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0;
  std::size_t star = std::string_view::npos, resume = 0;  // the last *, and where its match ends
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool TensorRule::matches(const TensorSpec& tensor) const {
  const std::size_t dimensions = tensor.shape.empty() ? 1 : tensor.shape.size();
  return tensor.n >= elements_from && tensor.n < elements_below && dimensions >= dimensions_from &&
         dimensions < dimensions_below && matches_pattern(names, tensor.name);
}

CodecPtr with_rules(RuleList rules, CodecPtr otherwise) {
  GRADWIRE_ASSERT(otherwise != nullptr);
  for (const auto& [rule, codec] : rules) GRADWIRE_ASSERT(codec != nullptr);
  if (rules.empty()) return otherwise;
  return std::make_shared<RulesCodec>(std::move(rules), std::move(otherwise));
}

CodecPtr with_each_codec(const CodecPtr& codec, const CodecChange& change) {
  const auto* rules = dynamic_cast<const RulesCodec*>(codec.get());
  return rules == nullptr ? change(codec) : rules->with_each(change);
}

const Codec& chosen_codec(const Codec& codec, const TensorSpec& tensor) {
  const auto* rules = dynamic_cast<const RulesCodec*>(&codec);
  return rules == nullptr ? codec : rules->chosen(tensor);
}

}  // namespace gradwire::compressors
