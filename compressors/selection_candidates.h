#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/thread_team.h"
#include "compressors/arithmetic/selection.h"
#include "compressors/codec.h"
#include "compressors/kernels/select.h"
#include "compressors/selection.h"
#include "compressors/selection_rank.h"

namespace gradwire::compressors {

/// Takes the next part of a call's scratch.
inline std::span<std::uint32_t> take_words(std::span<std::uint32_t>& words, std::size_t count) {
  const auto part = words.first(count);
  words = words.subspan(count);
  return part;
}
inline std::span<float> take_floats(std::span<std::uint32_t>& words, std::size_t count) {
  const auto part = take_words(words, count);
  return {reinterpret_cast<float*>(part.data()), part.size()};
}

/// Entries by ascending index.
struct KeptEntries {
  std::span<std::uint32_t> indices;
  std::span<float> values;
  std::size_t count = 0;
  std::size_t ties = 0;  ///< of the bound's magnitude
};

/// The values of a tensor, or of its sum with a residual, that reach a threshold: found in one pass
/// on all threads, and kept until it is known which of them are selected.
class Candidates {
 public:
  /// Magnitude bits that nothing reaches.
  static constexpr std::uint32_t kNone = 0x80000000u;

  /// What the first scan does beside it, while a block of the sum is in the cache.
  struct Visit {
    const VelocityStep* step = nullptr;  ///< made as it is read; the tensor is its velocity
    std::span<float> sample = {};        ///< of the sum, by `rule`
    SampleRule rule = {};
  };

  /// Words of scratch for at most `most` candidates of n values.
  static std::size_t words(std::size_t n, std::size_t most);
  /// `residual` may be null. What is passed must outlive this.
  Candidates(std::string_view codec, const TensorView& tensor, float* residual, ThreadTeam* team,
             std::size_t most, std::span<std::uint32_t>& scratch);

  /// Finds what reaches `lowest` in the sum (in the tensor where there is no residual). The first
  /// scan adds the tensor to the residual, and leaves there 0 for what reaches `cleared_from` >=
  /// lowest, which is thought to be selected. Throws CodecError on values that are not finite.
  void scan(std::uint32_t lowest, std::uint32_t cleared_from, const Visit& visit);
  /// The same of what an earlier scan has added: with another threshold, nothing cleared.
  void scan_again(std::uint32_t lowest);

  std::size_t found() const { return total_.load(std::memory_order_relaxed); }
  /// There were too many to keep them.
  bool overflow() const { return overflow_.load(std::memory_order_relaxed); }
  /// Without overflow: in no particular order.
  std::span<const float> values() const { return values_.first(found()); }
  std::uint32_t lowest() const { return lowest_; }
  /// Without overflow: how many reach `magnitude`, where that is not below lowest().
  std::size_t reaching(std::uint32_t magnitude) const;
  /// Of all values that were scanned.
  std::uint32_t largest() const { return largest_.load(std::memory_order_relaxed); }

  /// Without overflow: the candidates within the bound, and 0 for them in the residual. kept has
  /// room for them and kSelectSlack more.
  KeptEntries keep(const Bound& bound, KeptEntries kept);
  /// After an overflow: the bound of the k largest of all values, and what of these is within one.
  Bound bound_of_all(std::size_t k);
  KeptEntries keep_of_all(const Bound& bound, KeptEntries kept);

 private:
  /// Where one block's candidates lie, and what is kept of them.
  struct Segment {
    std::uint32_t begin, count;
    std::uint32_t kept;  ///< how many; then, where they go
    std::uint32_t ties;  ///< how many there are; then, how many are kept
  };

  std::size_t n() const { return tensor_.data.size(); }
  /// The values to select from, once the tensor has been added to the residual.
  const float* sums() const { return added_ ? residual_ : tensor_.data.data(); }
  void scan_all(bool add, std::uint32_t lowest);
  void take_sample(std::size_t begin, std::size_t end, std::span<const std::uint32_t> indices,
                   std::span<const float> values) const;
  kernels::Scan look(std::size_t begin, std::size_t size, bool add, std::uint32_t* indices,
                     float* values);
  void note_largest(std::uint32_t largest);
  std::size_t add_to_total(std::size_t count);  ///< returns the total before
  kernels::Scan scan_block(std::size_t begin, std::size_t size, bool add, std::uint32_t* indices,
                           float* values);
  [[noreturn]] void refuse(std::span<const std::uint32_t> indices, std::span<const float> values);
  void put_back(const std::uint32_t* indices, const float* values, std::size_t count);
  void put_back_all();
  void place(const Bound& bound, KeptEntries& kept);

  std::string_view codec_;
  const TensorView& tensor_;
  float* residual_;
  ThreadTeam* team_;
  std::span<Segment> segments_;
  std::span<std::uint32_t> indices_;
  std::span<float> values_;
  std::uint32_t lowest_ = 0;
  Visit visit_;
  std::uint32_t cleared_from_ = kNone;  ///< the residual holds 0 for what reaches this
  bool added_ = false;                  ///< the residual holds the sums
  std::atomic<std::uint32_t> largest_{0};
  std::atomic<std::size_t> total_{0};
  std::atomic<bool> overflow_{false};
};

}  // namespace gradwire::compressors
