#include "trainers/schedules/gossip/gossip_step.h"

#include <string>

#include "trainers/routes/movers.h"

namespace gradwire::trainers {
namespace {

sim::CollectiveSpec gossip_spec(const sim::Mixing& mixing, std::size_t bucket) {
  sim::CollectiveSpec spec =
      collective_spec(sim::CollectiveKind::kGossip, mixing.workers(), 0, bucket);
  spec.neighbour_begin.assign(1, 0);
  for (int i = 0; i < mixing.workers(); ++i) {
    const auto& receivers = mixing.receivers(i);
    spec.neighbour.insert(spec.neighbour.end(), receivers.begin(), receivers.end());
    spec.neighbour_begin.push_back(static_cast<std::int32_t>(spec.neighbour.size()));
  }
  return spec;
}

}  // namespace

GossipStep::GossipStep(const sim::Mixing& mixing, const Layout& layout, bool encodes, bool overlap)
    : encodes_(encodes) {
  for (int i = 0; i < mixing.workers(); ++i) {
    const auto senders = static_cast<double>(mixing.first_into(i + 1) - mixing.first_into(i));
    messages_of_.push_back(senders + (encodes ? 1 : 0));  // its own, as all others decode it
  }
  sim::GraphBuilder builder;
  add_computation(builder, layout);
  if (!mixing.edges().empty()) add_messages(builder, mixing, layout.buckets().size(), overlap);
  graph_ = builder.finish();
}

void GossipStep::add_computation(sim::GraphBuilder& builder, const Layout& layout) {
  backward_.resize(layout.buckets().size());
  for (std::size_t w = 0; w < messages_of_.size(); ++w) {
    const auto add = [&](const std::string& label, std::span<const sim::OpIndex> after) {
      return builder.add_operation(sim::OpKind::kCompute, sim::Lane::kCompute, static_cast<int>(w),
                                   label, after);
    };
    forward_.push_back(add("forward", {}));
    sim::OpIndex last = forward_.back();
    for (std::size_t b = 0; b < backward_.size(); ++b) {
      last = add("backward b" + std::to_string(b), {&last, 1});
      backward_[b].push_back(last);
    }
    update_.push_back(add("update", {&last, 1}));
  }
}

void GossipStep::add_messages(sim::GraphBuilder& builder, const sim::Mixing& mixing,
                              std::size_t buckets, bool overlap) {
  Ops ready = update_;
  const auto add = [&](sim::OpKind kind, const std::string& label, std::size_t w, Ops after) {
    return builder.add_operation(kind, sim::Lane::kCodec, static_cast<int>(w), label, after);
  };
  encode_.resize(encodes_ ? buckets : 0);
  for (std::size_t b = 0; b < encode_.size(); ++b)
    for (std::size_t w = 0; w < ready.size(); ++w)
      encode_[b].push_back(add(sim::OpKind::kEncode, "encode b" + std::to_string(b), w,
                               {b == 0 ? update_[w] : encode_[b - 1][w]}));
  mix_.resize(buckets);
  for (std::size_t b = 0; b < buckets; ++b) {
    Ops after = !encodes_ ? update_ : overlap ? encode_[b] : encode_.back();
    if (b > 0) after.push_back(gossips_.back());
    gossips_.push_back(
        builder.add_collective(gossip_spec(mixing, b), "gossip b" + std::to_string(b), after));
    for (std::size_t w = 0; w < ready.size(); ++w) {
      Ops before = {gossips_.back()};
      if (b > 0) before.insert(before.begin(), mix_[b - 1][w]);
      mix_[b].push_back(add(sim::OpKind::kAggregate, "mix b" + std::to_string(b), w, before));
    }
  }
}

std::vector<Seconds> GossipStep::seconds(const scenarios::ComputeProfile& profile,
                                         std::span<const double> slowdown, bool learns) const {
  std::vector<Seconds> seconds(graph_->size(), Seconds(0));
  for (std::size_t w = 0; w < forward_.size(); ++w) {
    if (learns) {
      seconds[forward_[w]] = profile.forward * slowdown[w];
      seconds[update_[w]] = profile.update * slowdown[w];
    }
    for (std::size_t b = 0; b < backward_.size(); ++b) {
      const scenarios::ComputeProfile::Bucket& bucket = profile.buckets[b];
      if (learns) seconds[backward_[b][w]] = bucket.backward * slowdown[w];
      if (!encode_.empty() && sends()) seconds[encode_[b][w]] = bucket.encode * slowdown[w];
      if (sends()) seconds[mix_[b][w]] = bucket.aggregate * (messages_of_[w] * slowdown[w]);
    }
  }
  return seconds;
}

std::vector<sim::CrossEdge> GossipStep::edges_from(std::optional<sim::GraphId> last) const {
  std::vector<sim::CrossEdge> edges;
  for (std::size_t w = 0; last && w < forward_.size(); ++w)
    edges.push_back({{*last, sends() ? mix_.back()[w] : update_[w]}, forward_[w]});
  return edges;
}

}  // namespace gradwire::trainers
