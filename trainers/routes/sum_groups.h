#pragma once
#include <vector>

#include "compressors/codec.h"
#include "trainers/layout.h"

/// With rules the tensors of a bucket may have several codecs, whose sums are of different widths.
namespace gradwire::trainers {

/// Elements [first, first + count) of a buffer of terms.
struct TermsRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Tensors of a bucket whose terms one codec adds up: they lie one after the other in buffers of
/// terms, and a collective of their own carries them.
struct SumGroup : TermsRange {
  const compressors::SumTerms* sum = nullptr;
};

/// Tensors of a bucket with one scale: the largest of theirs.
using ScaleGroup = std::vector<std::size_t>;

/// Which codec has each tensor, and where its terms lie in a buffer of the layout's size: a
/// bucket's groups follow one another in its range. With one codec that is the layout's own order.
class SumGroups {
 public:
  /// All codecs are of policy kSum; both must outlive the groups.
  SumGroups(const compressors::Codec& codec, const Layout& layout);

  const compressors::Codec& codec(std::size_t tensor) const { return *codecs_[tensor]; }
  TermsRange terms_of(std::size_t tensor) const { return terms_[tensor]; }
  const std::vector<SumGroup>& of(std::size_t bucket) const { return groups_[bucket]; }
  /// The scales of the bucket that workers agree on, each by the tensors that have it.
  const std::vector<ScaleGroup>& scaled(std::size_t bucket) const { return scaled_[bucket]; }
  /// Whether there is any such tensor.
  bool shares_scales() const;
  /// Whether some codec keeps state between steps.
  bool remembers() const { return remembers_; }

 private:
  void add_bucket(const Layout& layout, const BucketSlot& bucket);
  void add_scaled(std::size_t tensor, std::vector<ScaleGroup>& groups) const;

  std::vector<const compressors::Codec*> codecs_;  ///< by tensor
  std::vector<TermsRange> terms_;                  ///< by tensor
  std::vector<std::vector<SumGroup>> groups_;      ///< by bucket
  std::vector<std::vector<ScaleGroup>> scaled_;    ///< by bucket
  bool remembers_ = false;
};

}  // namespace gradwire::trainers
