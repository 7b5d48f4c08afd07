#include "runner/record/link_sampler.h"

#include <algorithm>
#include <numeric>

namespace gradwire::runner {

LinkSampler::LinkSampler(const sim::Cluster& cluster) {
  for (sim::ChannelId id = 0; id < cluster.channel_count(); ++id) {
    const sim::Link& link = cluster.link_of(id);
    const auto& names = cluster.node_names();
    const std::string& a = names[static_cast<std::size_t>(link.a)];
    const std::string& b = names[static_cast<std::size_t>(link.b)];
    names_.push_back(id % 2 == 0 ? a + " -> " + b : b + " -> " + a);
    rates_.push_back(cluster.nominal_rate(id).value());
    steady_.push_back(link.cell < 0 && !link.schedule(id));
  }
  most_ = std::clamp<std::size_t>(kMostRecords / std::max<std::size_t>(names_.size(), 1), 8,
                                  kMostIntervals);
  samples_.push_back({0, std::vector<std::int64_t>(names_.size(), 0)});
}

Seconds LinkSampler::next(const sim::Executor& executor) const {
  return Seconds(std::max(samples_.back().time, executor.now().value()) + interval_);
}

void LinkSampler::observe(const sim::Executor& executor) {
  if (executor.now().value() >= samples_.back().time + interval_) take(executor);
}

void LinkSampler::take(const sim::Executor& executor) {
  const std::vector<sim::ChannelRecord> records = executor.channels();
  if (records.size() != names_.size()) return;  // an executor that does not count them
  Sample sample{executor.now().value(), {}};
  for (const sim::ChannelRecord& record : records) sample.wire.push_back(record.wire.count());
  samples_.push_back(std::move(sample));
  if (samples_.size() > most_) thin_out();
}

/// Every second instant, the first and the last among them.
void LinkSampler::thin_out() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < samples_.size(); i += 2) {
    if (kept != i) samples_[kept] = std::move(samples_[i]);
    ++kept;
  }
  samples_.resize(kept);
  interval_ *= 2;
}

/// A window is charged when TCP sends it; what its link cannot carry at once waits in the queue.
void LinkSampler::queue_what_is_too_much(results::LinkSeries& series) {
  std::int64_t waiting = 0;
  for (results::LinkSeries::Interval& each : series.intervals) {
    const auto room = static_cast<std::int64_t>((each.end_s - each.start_s) * series.rate_bps / 8);
    waiting += each.wire_bytes;
    each.wire_bytes = std::min(waiting, room + 1);
    waiting -= each.wire_bytes;
  }
  if (waiting > 0) series.intervals.back().wire_bytes += waiting;  // never lose a byte
}

void LinkSampler::finish(const sim::Executor& executor) {
  if (executor.now().value() > samples_.back().time) take(executor);
}

std::vector<results::LinkSeries> LinkSampler::series() const {
  std::vector<std::size_t> order(names_.size());
  std::iota(order.begin(), order.end(), 0);
  const std::vector<std::int64_t>& total = samples_.back().wire;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return total[a] > total[b]; });
  std::vector<results::LinkSeries> all;
  for (const std::size_t channel : order) {
    if (all.size() == kMostChannels || total[channel] == 0) break;
    results::LinkSeries series{
        static_cast<std::int32_t>(channel), names_[channel], rates_[channel], {}};
    for (std::size_t i = 1; i < samples_.size(); ++i)
      series.intervals.push_back({samples_[i - 1].time, samples_[i].time,
                                  samples_[i].wire[channel] - samples_[i - 1].wire[channel]});
    if (steady_[channel]) queue_what_is_too_much(series);
    all.push_back(std::move(series));
  }
  return all;
}

}  // namespace gradwire::runner
