#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "trainers/layout.h"
#include "trainers/routes/exchange.h"
#include "trainers/routes/tensor_parts.h"

namespace gradwire::trainers {

using Parts = std::vector<TensorPart>;

/// Parts of tensors as messages that go one way: gradients up, sums down. A message is, for each
/// part, u32 length, then the codec's payload. Settings and layout outlive it.
class PartCoder {
 public:
  PartCoder(const ExchangeSettings& settings, const Layout& layout, const compressors::Codec& codec,
            Direction direction);

  /// Whose message it is: who remembers (-1: the server), and as which worker its draws are made.
  struct Sender {
    int owner = 0;
    int draws_as = 0;
    std::int64_t step = 0;
    bool whole_tensors = false;  ///< remembered as such, else part by part
  };
  using ValuesOf = std::function<std::span<const float>(const TensorPart&)>;

  /// Before these parts are written or added.
  void expect(const Parts& parts);
  /// The most that a message of these parts takes.
  std::size_t most_bytes(const Parts& parts) const;
  /// `most`: most_bytes(parts), which does not change from step to step.
  void write(StateStore& states, const Parts& parts, const Sender& sender,
             const ValuesOf& values_of, std::size_t most, std::vector<std::byte>& message) const;
  /// sum += factor * what has arrived of a message. `sum` begins at the layout's element `first`.
  void add(const Parts& parts, const Received& message, float factor, std::int64_t first,
           std::span<float> sum) const;
  /// From now on a part whose length was lost is found where its codec's payloads have one length.
  void find_by_length();

  /// The part's values out of one span a tensor.
  static std::span<const float> cut(GradientSpans gradients, const TensorPart& part) {
    return gradients[part.tensor].subspan(static_cast<std::size_t>(part.first),
                                          static_cast<std::size_t>(part.count));
  }
  /// The layout's element where a part begins.
  std::int64_t first_of(const TensorPart& part) const {
    return layout_.tensors()[part.tensor].first + part.first;
  }

 private:
  const compressors::Codec& codec(const TensorPart& part) const { return *codecs_[part.tensor]; }
  compressors::TensorSpec spec(const TensorPart& part) const {
    return {static_cast<std::size_t>(part.count), layout_.tensors()[part.tensor].name, part.shape};
  }
  std::optional<std::size_t> usual_size(const TensorPart& part) const;

  const ExchangeSettings& settings_;
  const Layout& layout_;
  Direction direction_;
  /// By tensor, decided by the whole of it, not by a part.
  std::vector<const compressors::Codec*> codecs_;
  std::vector<bool> fixed_;  ///< by tensor; empty: lengths are not looked for
  std::size_t scratch_size_ = 0;
};

}  // namespace gradwire::trainers
