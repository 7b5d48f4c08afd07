#include "compressors/bit_packing.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/hquant/layout.h"
#include "compressors/codecs/walked_codec.h"
#include "compressors/coding/bit_stream.h"
#include "compressors/coding/index_walk.h"
#include "compressors/ordered_sum.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "hquant";
const HquantLayout kHead;
constexpr std::size_t kLargest = 0xFFFFFFFFu;

/// One half of a tree: the magnitudes of one sign that took the same turns, first turn on top.
struct Node {
  double mean = 0;
  std::size_t count = 0;
};

/// A running ordered sum (compressors/ordered_sum.h) of the members of one group; the others of the
/// list add +0, which changes nothing.
struct GroupSum {
  double partials[kSumPartials];
  PairwiseSum blocks;
  std::size_t count;

  void clear() {
    std::fill(partials, partials + kSumPartials, 0.0);
    blocks.clear();
    count = 0;
  }
  void end_block() {
    blocks.add(fold_partials(partials));
    std::fill(partials, partials + kSumPartials, 0.0);
  }
};

struct Workspace {
  std::span<std::byte> selection;
  std::span<GroupSum> sums;        ///< [2^(D+1)]: positive leaves, then negative
  std::span<Node> nodes;           ///< as sums, of the level above
  std::span<std::uint8_t> groups;  ///< [k]: sign on top, then the turns so far
};

/// The entries' groups and the codebook after `depth` splits at the mean.
class Hierarchy {
 public:
  Hierarchy(const Selected& selected, int depth, const Workspace& work)
      : values_(selected.values), depth_(depth), work_(work) {
    for (std::size_t i = 0; i < values_.size(); ++i) work_.groups[i] = values_[i] < 0.0f ? 1 : 0;
    values_.size() == 1 ? hold_single() : split_all();
  }

  /// Leaf j of the positive entries, or of the negative ones: its mean magnitude.
  float leaf(bool negative, std::size_t j) const {
    return static_cast<float>(work_.nodes[(negative ? std::size_t{1} << depth_ : 0) + j].mean);
  }

 private:
  void split_all() const {
    measure(0);
    for (int level = 1; level <= depth_; ++level) {
      for (std::size_t i = 0; i < values_.size(); ++i) split(i);
      measure(level);
    }
  }

  // To the upper half if the magnitude is above the mean of its group.
  void split(std::size_t i) const {
    const unsigned group = work_.groups[i];
    const bool high = double{std::fabs(values_[i])} > work_.nodes[group].mean;
    work_.groups[i] = static_cast<std::uint8_t>(2 * group + (high ? 1 : 0));
  }

  void add_members(std::span<GroupSum> sums) const {
    for (GroupSum& sum : sums) sum.clear();
    for (std::size_t i = 0; i < values_.size(); ++i) {
      GroupSum& sum = sums[work_.groups[i]];
      sum.partials[i % kSumPartials] += double{std::fabs(values_[i])};
      ++sum.count;
      if ((i + 1) % kSumBlock == 0 || i + 1 == values_.size())
        for (GroupSum& each : sums) each.end_block();
    }
  }

  // A single value is the mean of its groups, and never above it; the empty ones inherit it.
  void hold_single() const {
    const unsigned sign = work_.groups[0];
    for (unsigned g = 0; g < 2u << depth_; ++g)
      work_.nodes[g] = {g >> depth_ == sign ? double{std::fabs(values_[0])} : 0.0, 1};
    work_.groups[0] = static_cast<std::uint8_t>(sign << depth_);
  }

  // An empty group inherits the mean above it; an empty sign has 0.
  void measure(int level) const {
    const std::size_t groups = std::size_t{2} << level;
    const auto sums = work_.sums.first(groups);
    add_members(sums);
    for (std::size_t g = groups; g-- > 0;) {  // downwards: parents are read before they are lost
      const double above = level == 0 ? 0.0 : work_.nodes[g / 2].mean;
      work_.nodes[g] = {
          sums[g].count == 0 ? above : sums[g].blocks.total() / static_cast<double>(sums[g].count),
          sums[g].count};
    }
  }

  std::span<const float> values_;
  int depth_;
  const Workspace& work_;
};

class HquantCodec final : public WalkedCodec<HquantCodec> {
 public:
  HquantCodec(double kept, int depth, std::string_view indices)
      : kept_(kept), depth_(depth), indices_(indices) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return layout_for(tensor.n, floor_count(tensor.n, kept_)).size({});
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    const std::size_t k = floor_count(tensor.n, kept_);
    return padded_to_8(selection_scratch_size(tensor.n, k)) +
           (sizeof(GroupSum) + sizeof(Node)) * leaves() + padded_to_8(k);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    refuse_beyond(kName, job.tensor, kLargest);
    const std::size_t k = floor_count(job.tensor.data.size(), kept_);
    const Workspace work = workspace_in(scratch, job.tensor.data.size(), k);
    const Selected selected = select_largest(kName, job.tensor, k, work.selection, job.team);
    return write(job, selected, work);
  }

  std::size_t encode_with_residual(EncodeJob& job, std::span<float> residual,
                                   std::span<std::byte> scratch) const override {
    refuse_beyond(kName, job.tensor, kLargest);
    const std::size_t k = floor_count(job.tensor.data.size(), kept_);
    const Workspace work = workspace_in(scratch, job.tensor.data.size(), k);
    const Selected selected = select_largest_of_sum(kName, job, residual, k, work.selection);
    const std::size_t written = write(job, selected, work);
    for (std::size_t i = 0; i < selected.values.size(); ++i) {
      const unsigned group = work.groups[i];
      const auto mean = static_cast<float>(work.nodes[group].mean);
      residual[selected.indices[i]] = selected.values[i] - (group >> depth_ != 0 ? -mean : mean);
    }
    return written;
  }

  HquantLayout open(const DecodeJob& job, std::span<std::byte>) const {
    return layout_of(job.payload, job.values.size());
  }
  template <class Visit>
  void walk(const DecodeJob& job, const HquantLayout& layout, Visit&& visit) const {
    const int width = layout.section<HquantLayout::kCodes>().shown.bits, depth = width - 1;
    const auto codes_at = static_cast<std::size_t>(layout.at<HquantLayout::kCodes>({}));
    const index_detail::FieldReader codes(job.payload.subspan(codes_at), width);
    const auto code_bits = static_cast<std::uint64_t>(width);
    const std::byte* codebook = job.payload.data() + layout.at<HquantLayout::kCodebook>({});
    const ShownIndices& shown = layout.section<HquantLayout::kIndices>().shown;
    const IndexSection indices{kName, job.payload.first(codes_at),
                               static_cast<std::size_t>(layout.at<HquantLayout::kIndices>({})),
                               job.values.size(), shown.k};
    walk_indices(shown.format, indices, [&](std::size_t i, std::uint32_t index) {
      const std::uint32_t code = codes.at(i * code_bits);
      const std::size_t leaf = (code & 1) << depth | code >> 1;
      const auto magnitude = number_at<float>(codebook + HquantCodebook().at(leaf));
      visit(index, (code & 1) != 0 ? -magnitude : magnitude);
    });
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs& side) const override {
    check(payload, tensor, side);
    return described(payload, layout_of(payload, tensor.n), extent_of(tensor));
  }

 private:
  std::size_t leaves() const { return std::size_t{2} << depth_; }
  HquantLayout layout_for(std::size_t n, std::size_t k) const {
    const HquantLayout bitmap(n, {IndexFormat::kBitmap, k}, depth_);
    const HquantLayout packed(n, {IndexFormat::kPacked, k}, depth_);
    if (indices_ == "auto") return bitmap.size({}) <= packed.size({}) ? bitmap : packed;
    return indices_ == "bitmap" ? bitmap : packed;
  }

  Workspace workspace_in(std::span<std::byte> scratch, std::size_t n, std::size_t k) const {
    const std::size_t selection = padded_to_8(selection_scratch_size(n, k));
    Workspace work;
    work.selection = scratch.first(selection);
    scratch = scratch.subspan(selection);
    work.sums = view_as<GroupSum>(scratch, leaves());
    work.nodes = view_as<Node>(scratch.subspan(work.sums.size_bytes()), leaves());
    work.groups =
        view_as<std::uint8_t>(scratch.subspan(work.sums.size_bytes() + work.nodes.size_bytes()), k);
    return work;
  }

  std::size_t write(EncodeJob& job, const Selected& selected, const Workspace& work) const {
    const std::size_t n = job.tensor.data.size(), k = selected.values.size();
    const Hierarchy hierarchy(selected, depth_, work);
    const HquantLayout layout = layout_for(n, k);
    const auto at = [&](std::uint64_t byte) {
      return job.payload.subspan(static_cast<std::size_t>(byte));
    };
    const IndexFormat format = layout.section<HquantLayout::kIndices>().shown.format;
    layout.store<HquantLayout::kLength>(job.payload, n);
    layout.store<HquantLayout::kCount>(job.payload, k);
    layout.store<HquantLayout::kDepth>(job.payload, depth_);
    layout.store<HquantLayout::kMode>(job.payload, format == IndexFormat::kBitmap ? 0 : 1);
    layout.store<HquantLayout::kReserved>(job.payload, 0);
    const auto codebook = at(layout.at<HquantLayout::kCodebook>({}));
    for (std::size_t leaf = 0; leaf < leaves(); ++leaf)
      store_field(codebook, HquantCodebook().at(leaf),
                  hierarchy.leaf(leaf >= leaves() / 2, leaf % (leaves() / 2)));
    const std::size_t indices =
        encode_indices(format, selected.indices, n, at(layout.at<HquantLayout::kIndices>({})));
    GRADWIRE_ASSERT(indices == layout.section<HquantLayout::kIndices>().size);
    write_codes(
        work.groups.first(k),
        at(layout.at<HquantLayout::kCodes>({})).first(layout.section<HquantLayout::kCodes>().size));
    return job.written = layout.size({});
  }

  // A group's number has the sign on top; a code has it at the bottom.
  void write_codes(std::span<const std::uint8_t> groups, std::span<std::byte> bytes) const {
    std::uint32_t codes[512];
    const unsigned mask = (1u << depth_) - 1u;
    std::size_t at = 0;
    for (std::size_t begin = 0; begin < groups.size(); begin += std::size(codes)) {
      const std::size_t count = std::min(std::size(codes), groups.size() - begin);
      for (std::size_t i = 0; i < count; ++i) {
        const unsigned group = groups[begin + i];
        codes[i] = (group & mask) << 1 | group >> depth_;
      }
      const std::size_t size = packed_bytes(count, 1 + depth_);
      pack_bits({codes, count}, 1 + depth_, 0, 2 * mask + 1, bytes.subspan(at, size));
      at += size;
    }
  }

  static HquantLayout layout_of(std::span<const std::byte> payload, std::size_t n) {
    require_head(kName, payload, kHead, {.n = n});
    const std::byte* head = payload.data();
    const HquantLayout layout(n,
                              {HquantIndexMode::format(kHead.load<HquantLayout::kMode>(head)),
                               kHead.load<HquantLayout::kCount>(head)},
                              kHead.load<HquantLayout::kDepth>(head));
    require_layout(kName, payload, layout, {.n = n});
    return layout;
  }

  double kept_;
  int depth_;
  std::string indices_;
};

OptionTable hquant_options() {
  return {{.name = "ratio",
           .type = OptionType::kNumber,
           .default_text = "0.1",
           .help = "share gamma of the elements that is sent: k = max(1, floor(gamma n))",
           .min = 0,
           .max = 1,
           .min_exclusive = true},
          {.name = "depth",
           .type = OptionType::kInteger,
           .default_text = "2",
           .help = "times D that the magnitudes of each sign are split at their mean: 2^D leaves",
           .min = 0,
           .max = HquantDepth::kDeepest},
          {.name = "indices",
           .type = OptionType::kChoice,
           .default_text = "auto",
           .help = "a bitmap, or ceil(log2 n) bits an index; auto takes the smaller",
           .choices = {"auto", "bitmap", "packed"}}};
}

}  // namespace

CodecRow hquant_row() {
  return {{.name = std::string(kName),
           .summary = "the k largest, each as its sign and a leaf of means split at means",
           .source = "after Jiang et al., arXiv 2212.14760 (abstract; a reconstruction)",
           .policy = AggregatePolicy::kGather,
           .unbiased = false,
           .options = hquant_options(),
           .family = CodecFamily::kSparse},
          [](const OptionValues& options) -> CodecPtr {
            return std::make_shared<HquantCodec>(options.number("ratio"),
                                                 static_cast<int>(options.integer("depth")),
                                                 options.text("indices"));
          }};
}

}  // namespace gradwire::compressors
