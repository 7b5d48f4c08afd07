#include "trainers/routes/weight_gather.h"

#include <algorithm>
#include <cstring>

#include "trainers/routes/movers.h"
#include "trainers/updates/shards.h"

namespace gradwire::trainers {
namespace {

/// The message's values go to `range` of the flat buffer.
void place_message(const Received& message, const ElementRange& range, std::span<float> weights) {
  const std::span<float> part = slice(weights, range);
  GRADWIRE_ASSERT(message.bytes.size() == part.size_bytes() && message.gaps.empty());
  if (!part.empty()) std::memcpy(part.data(), message.bytes.data(), part.size_bytes());
}

}  // namespace

void charge_gathers(StepTraffic& traffic, const Layout& layout, int workers, int zero) {
  for (std::size_t pass = 0; pass < gathers_in(zero); ++pass) {
    for (std::size_t b = 0; b < layout.buckets().size(); ++b) {
      const BucketSlot& bucket = layout.buckets()[b];
      std::vector<Bytes> sizes;
      for (int w = 0; w < workers; ++w)
        sizes.emplace_back(4 * shard_of_bucket(bucket, w, workers).count);
      traffic.charge(traffic.plan().gather(pass, b), sizes,
                     Bytes(4 * bucket.count * (workers - 1)));
    }
  }
}

WeightGather::WeightGather(const Layout& layout, int workers, std::size_t passes)
    : layout_(layout), passes_(passes), shards_(static_cast<std::size_t>(workers)) {
  for (int w = 0; w < workers; ++w)
    shards_[static_cast<std::size_t>(w)].resize(
        static_cast<std::size_t>(elements_of(shard_of(layout, w, workers))));
}

void WeightGather::take(std::span<const float> weights) {
  for (std::size_t w = 0; w < shards_.size(); ++w) {
    auto to = shards_[w].begin();
    const auto workers = static_cast<int>(shards_.size());
    for (const ElementRange& range : shard_of(layout_, static_cast<int>(w), workers))
      to = std::ranges::copy(slice(weights, range), to).out;
  }
}

std::int64_t WeightGather::offset_of(std::size_t bucket, int worker) const {
  const auto workers = static_cast<int>(shards_.size());
  std::int64_t offset = 0;
  for (std::size_t b = 0; b < bucket; ++b)
    offset += shard_of_bucket(layout_.buckets()[b], worker, workers).count;
  return offset;
}

void WeightGather::move(StepTraffic& traffic, std::span<float> weights) {
  for (std::vector<float>& replica : replicas_) replica.resize(weights.size());
  for (std::size_t pass = 0; pass < passes_; ++pass)
    for (std::size_t b = 0; b < layout_.buckets().size(); ++b)
      move_bucket(traffic, pass, b, weights);
}

void WeightGather::move_bucket(StepTraffic& traffic, std::size_t pass, std::size_t bucket,
                               std::span<float> weights) {
  const auto workers = static_cast<int>(shards_.size());
  std::vector<ElementRange> ranges;
  std::vector<Message> messages;
  for (int w = 0; w < workers; ++w) {
    ranges.push_back(shard_of_bucket(layout_.buckets()[bucket], w, workers));
    const ElementRange own{offset_of(bucket, w), ranges.back().count};
    messages.push_back(std::as_bytes(slice(shards_[static_cast<std::size_t>(w)], own)));
  }
  GatherMover mover(messages);
  traffic.move(traffic.plan().gather(pass, bucket), sizes_of(messages), mover);
  for (int from = 0; from < workers; ++from) {
    const auto f = static_cast<std::size_t>(from);
    place_message(mover.received(0)[f], ranges[f], weights);
    for (std::size_t to = 0; to < replicas_.size(); ++to)
      place_message(mover.received(static_cast<int>(to))[f], ranges[f], replicas_[to]);
  }
}

std::int64_t WeightGather::largest_bytes() const {
  std::size_t largest = 0;
  for (const std::vector<float>& shard : shards_) largest = std::max(largest, shard.size());
  return static_cast<std::int64_t>(4 * largest);
}

}  // namespace gradwire::trainers
