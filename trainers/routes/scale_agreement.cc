#include "trainers/routes/scale_agreement.h"

#include <algorithm>
#include <cstring>

#include "trainers/channel/framing.h"
#include "trainers/routes/movers.h"

namespace gradwire::trainers {
namespace {

std::vector<Message> messages_of(const std::vector<std::vector<float>>& proposals) {
  std::vector<Message> messages;
  for (const std::vector<float>& own : proposals) messages.push_back(std::as_bytes(std::span(own)));
  return messages;
}

/// largest[t] = the largest scale of tensor t that has arrived, 0 if none has.
void take_largest(std::span<const Received> messages, std::span<float> largest) {
  std::fill(largest.begin(), largest.end(), 0.0f);
  for (const Received& message : messages) {
    std::vector<float> scales(largest.size());
    std::memcpy(scales.data(), message.bytes.data(), 4 * scales.size());
    for (const sim::ChunkRange& lost :
         touched_elements(message.gaps, 32, static_cast<std::int64_t>(scales.size())))
      std::fill_n(scales.begin() + lost.first, lost.count, 0.0f);
    for (std::size_t t = 0; t < largest.size(); ++t) largest[t] = std::max(largest[t], scales[t]);
  }
}

}  // namespace

sim::ChunkRange shard_part(const ExchangeSettings& settings, std::size_t count, int shard) {
  return sim::chunk_range(static_cast<std::int64_t>(count), settings.shards, shard);
}

ScaleAgreement::ScaleAgreement(const ExchangeSettings& settings, const Layout& layout,
                               const SumGroups& groups)
    : settings_(settings),
      groups_(groups),
      proposed_(static_cast<std::size_t>(settings.workers),
                std::vector<float>(layout.tensors().size(), -1.0f)),
      agreed_(proposed_) {}

void ScaleAgreement::agree(StepTraffic& traffic, std::size_t b) {
  if (!settings_.server) return agree_among_workers(traffic, b);
  for (int s = 0; s < settings_.shards; ++s) agree_at_server(traffic, b, s);
}

/// The scales of a bucket that travel, or a part of them, out of those by tensor: of each group the
/// largest.
std::vector<float> ScaleAgreement::picked(std::span<const float> scales, std::size_t b,
                                          sim::ChunkRange part) const {
  std::vector<float> some;
  for (std::int64_t i = part.first; i < part.first + part.count; ++i) {
    float& largest = some.emplace_back(0.0f);
    for (const std::size_t t : groups_.scaled(b)[static_cast<std::size_t>(i)])
      largest = std::max(largest, scales[t]);
  }
  return some;
}

/// The reverse.
void ScaleAgreement::place(std::span<const float> some, std::size_t b, sim::ChunkRange part,
                           std::span<float> scales) const {
  for (std::size_t i = 0; i < some.size(); ++i)
    for (const std::size_t t : groups_.scaled(b)[static_cast<std::size_t>(part.first) + i])
      scales[t] = some[i];
}

/// Of every worker, the proposed scales of a part of bucket b's, as they travel: f32 each.
std::vector<std::vector<float>> ScaleAgreement::proposals(std::size_t b,
                                                          sim::ChunkRange part) const {
  std::vector<std::vector<float>> all;
  for (const std::vector<float>& own : proposed_) all.push_back(picked(own, b, part));
  return all;
}

void ScaleAgreement::agree_among_workers(StepTraffic& traffic, std::size_t b) {
  const sim::ChunkRange all{0, static_cast<std::int64_t>(groups_.scaled(b).size())};
  const std::vector<std::vector<float>> proposed = proposals(b, all);
  const std::vector<Message> messages = messages_of(proposed);
  GatherMover mover(messages);
  traffic.move(b, 1, sizes_of(messages), mover);
  std::vector<float> largest(groups_.scaled(b).size());
  for (std::size_t w = 0; w < workers(); ++w) {
    take_largest(mover.received(static_cast<int>(w)), largest);
    place(largest, b, all, agreed_[w]);
  }
}

void ScaleAgreement::agree_at_server(StepTraffic& traffic, std::size_t b, int shard) {
  const sim::ChunkRange part = shard_part(settings_, groups_.scaled(b).size(), shard);
  const std::vector<std::vector<float>> proposed = proposals(b, part);
  const std::vector<Message> messages = messages_of(proposed);
  ServerMover push(messages);
  traffic.move(b, 1, sizes_of(messages), push, static_cast<std::size_t>(shard));
  std::vector<float> largest(static_cast<std::size_t>(part.count));
  take_largest(push.received(), largest);
  const std::vector<Message> answers(workers(), std::as_bytes(std::span<const float>(largest)));
  ServerMover pull(answers);
  traffic.move(b, 3, sizes_of(answers), pull, static_cast<std::size_t>(shard));
  std::vector<float> own(largest.size());
  for (std::size_t w = 0; w < workers(); ++w) {
    const Received& answer = pull.received()[w];
    take_largest({&answer, 1}, own);
    // Who does not learn what was agreed goes by its own.
    for (const sim::ChunkRange& lost : touched_elements(answer.gaps, 32, part.count))
      std::copy_n(proposed[w].begin() + lost.first, lost.count, own.begin() + lost.first);
    place(own, b, part, agreed_[w]);
  }
}

}  // namespace gradwire::trainers
