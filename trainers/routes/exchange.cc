#include "trainers/routes/exchange.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "scenarios/methods.h"
#include "sim/cluster/topologies/topologies.h"
#include "trainers/scenario_update.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

/// Passes everything on and adds up what crosses; keeps it where that is asked for.
class CountingHandler final : public sim::DataHandler {
 public:
  CountingHandler(sim::DataHandler& inner, sim::Payloads* kept) : inner_(inner), kept_(kept) {}
  std::span<const std::byte> send(int host, sim::OpIndex op, const sim::HopTransfer& hop,
                                  sim::ChunkRange chunk) override {
    return inner_.send(host, op, hop, chunk);
  }
  void receive(int host, sim::OpIndex op, const sim::HopTransfer& hop, sim::ChunkRange chunk,
               std::span<const std::byte> payload) override {
    note(op, hop, payload);
    inner_.receive(host, op, hop, chunk, payload);
  }
  void receive_partial(int host, sim::OpIndex op, const sim::HopTransfer& hop,
                       sim::ChunkRange chunk, std::span<const std::byte> payload,
                       std::span<const sim::ByteRange> missing) override {
    note(op, hop, payload);
    inner_.receive_partial(host, op, hop, chunk, payload, missing);
  }
  Bytes crossed() const { return crossed_; }

 private:
  void note(sim::OpIndex op, const sim::HopTransfer& hop, std::span<const std::byte> payload) {
    crossed_ += Bytes(static_cast<std::int64_t>(payload.size()));
    if (kept_) kept_->add(op, hop, payload);
  }

  sim::DataHandler& inner_;
  sim::Payloads* kept_;
  Bytes crossed_{0};
};

Bytes chunk_bytes(const sim::CollectiveSpec& spec, int width) {
  const auto ranks = static_cast<int>(spec.members.size());
  Bytes sum{0};
  for (int chunk = 0; chunk < ranks; ++chunk) {
    sum += sim::packed_bytes(sim::chunk_range(spec.elements, ranks, chunk).count, width);
  }
  return sum;
}

/// True if a codec of the plan looks at rows.
bool needs_shape(const compressors::CodecPlan& plan) {
  const auto looks = [](const compressors::CodecChoice& choice) {
    const compressors::CodecInfo* codec = scenarios::find_codec(choice.name);
    return codec && codec->needs_shape;
  };
  return looks(plan.codec) || std::any_of(plan.rules.begin(), plan.rules.end(),
                                          [&](const auto& rule) { return looks(rule.codec); });
}

void require_fit(const scenarios::ComputeProfile& profile, const Layout& layout) {
  bool fits = profile.buckets.size() == layout.buckets().size();
  for (std::size_t b = 0; fits && b < profile.buckets.size(); ++b) {
    fits = profile.buckets[b].elements == layout.buckets()[b].count;
  }
  if (!fits) {
    throw TrainerError("use compute times of", profile.device,
                       "their buckets are not those of this model and bucket size",
                       "measure again");
  }
}

/// Whose chunks start at one worker and go once round, each in the same order of additions.
bool is_ring(sim::CollectiveKind kind) {
  return kind == sim::CollectiveKind::kRingAllReduce ||
         kind == sim::CollectiveKind::kRingReduceScatter;
}

/// What a name of /exchange/collective means.
void set_collective(const scenarios::Exchange& exchange, ExchangeSettings& settings) {
  using sim::CollectiveKind;
  const std::string& name = exchange.collective;
  settings.server = name == "parameter-server";
  settings.group = exchange.group;
  settings.shards = exchange.shards;
  if (name == "in-network") settings.all_reduce = CollectiveKind::kInNetworkAllReduce;
  if (name == "tree") settings.all_reduce = CollectiveKind::kTreeAllReduce;
  if (name == "halving-doubling") settings.all_reduce = CollectiveKind::kHalvingDoublingAllReduce;
  if (name == "two-level") settings.all_reduce = CollectiveKind::kTwoLevelAllReduce;
  settings.scatter = name == "scatter-reduce";
  if (name != "ring" && !settings.scatter) settings.all_gather = CollectiveKind::kDirectAllGather;
}

}  // namespace

ExchangeSettings exchange_settings(const scenarios::Scenario& scenario) {
  return exchange_settings(scenario, scenarios::codec_plan(scenario));
}

ExchangeSettings exchange_settings(const scenarios::Scenario& scenario,
                                   const compressors::CodecPlan& of_tensors) {
  ExchangeSettings settings;
  settings.workers = scenario.cluster.workers;
  set_collective(scenario.exchange, settings);
  if (settings.all_reduce == sim::CollectiveKind::kInNetworkAllReduce)
    settings.parent = scenarios::aggregation_of(scenario).parent;
  compressors::CodecPlan plan = of_tensors;
  settings.codec = compressors::make_codec(plan);
  plan.momentum_correction.reset();
  plan.clipping.reset();
  settings.requantizer = compressors::make_codec(plan);
  settings.keep_rows = needs_shape(plan);
  settings.seed = scenario.seed;
  return settings;
}

float sum_scale(int workers) {
  return 1.0f / static_cast<float>(std::bit_ceil(static_cast<unsigned>(workers)));
}

float mean_factor(int workers) {
  return 1.0f / (static_cast<float>(workers) * sum_scale(workers));
}

std::vector<std::size_t> buckets_of(const ExchangeSettings& settings, const Layout& layout) {
  if (!settings.buckets.empty()) return settings.buckets;
  std::vector<std::size_t> all(layout.buckets().size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<std::size_t> tensors_of(std::span<const std::size_t> buckets, const Layout& layout) {
  std::vector<std::size_t> tensors;
  for (const std::size_t b : buckets)
    for (std::size_t t = layout.buckets()[b].first_tensor; t < layout.buckets()[b].end_tensor; ++t)
      tensors.push_back(t);
  return tensors;
}

std::unique_ptr<StepTemplate> make_step_template(const scenarios::Scenario& scenario,
                                                 const Layout& layout, const Exchange& exchange,
                                                 const scenarios::ComputeProfile& profile) {
  require_fit(profile, layout);
  std::vector<std::vector<Stage>> stages;
  for (std::size_t b = 0; b < layout.buckets().size(); ++b) {
    stages.push_back(exchange.stages(b, profile.buckets[b].aggregate));
  }
  return std::make_unique<StepTemplate>(scenario.cluster.workers, stages, scenario.exchange.overlap,
                                        scenario.exchange.shards, zero_stage(scenario),
                                        scenario.exchange.offload.has_value());
}

sim::CollectiveSpec all_reduce_spec(const ExchangeSettings& settings, std::int64_t elements,
                                    std::size_t bucket) {
  sim::CollectiveSpec spec =
      collective_spec(settings.all_reduce, settings.workers, elements, bucket);
  spec.group = settings.group;
  spec.parent = settings.parent;
  while (spec.members.size() < spec.parent.size())  // aggregators follow the workers
    spec.members.push_back(static_cast<std::int32_t>(spec.members.size()));
  return spec;
}

Bytes reduction_bytes(const sim::CollectiveSpec& spec) {
  const auto ranks = static_cast<int>(spec.members.size());
  const bool whole = spec.kind == sim::CollectiveKind::kRingAllReduce;
  if (!whole && spec.kind != sim::CollectiveKind::kRingReduceScatter)
    return sim::total_payload(spec, {});
  const int full = sim::width_of(spec, ranks);
  Bytes sum = whole ? chunk_bytes(spec, full) * (ranks - 1) : Bytes(0);
  // Widths grow with the logarithm of the workers: few differ, many hops do.
  Bytes hop{0};
  for (int contributors = 1, known = -1; contributors < ranks; ++contributors) {
    const int width = sim::width_of(spec, contributors);
    if (width != known) hop = chunk_bytes(spec, width);
    known = width;
    sum += hop;
  }
  return sum;
}

std::vector<std::span<const float>> device_values(const DeviceEncoder& device, const Layout& layout,
                                                  int worker, std::optional<std::size_t> bucket) {
  std::vector<std::span<const float>> values(layout.tensors().size());
  const std::size_t first = bucket ? layout.buckets()[*bucket].first_tensor : 0;
  const std::size_t end = bucket ? layout.buckets()[*bucket].end_tensor : values.size();
  for (std::size_t t = first; t < end; ++t) {
    const Message bytes = device.payload(worker, t);
    values[t] = {reinterpret_cast<const float*>(bytes.data()), bytes.size() / 4};
  }
  return values;
}

StepTraffic::StepTraffic(const StepTemplate& plan, std::vector<Bytes>& bytes,
                         std::span<const sim::MissingData> missing)
    : plan_(plan), bytes_(bytes), missing_(missing.begin(), missing.end()) {
  bytes_.assign(plan.graph()->bytes_begin.back(), Bytes(0));
  std::ranges::stable_sort(missing_, {}, &sim::MissingData::op);
}

/// Of `op`, as its messages are now: a reduction's are as planned, others' are a rank's each.
std::vector<sim::MissingData> StepTraffic::missing_of(sim::OpIndex op,
                                                      std::span<const Bytes> sizes) const {
  std::vector<sim::MissingData> missing(
      std::ranges::lower_bound(missing_, op, {}, &sim::MissingData::op),
      std::ranges::upper_bound(missing_, op, {}, &sim::MissingData::op));
  for (sim::MissingData& each : missing) {
    if (sizes.empty()) break;
    const std::int64_t planned = each.hop.bytes.count();
    const std::int64_t actual = sizes[static_cast<std::size_t>(each.hop.block)].count();
    if (actual != planned) each.ranges = scaled(each.ranges, planned, actual);
  }
  return missing;
}

std::span<const Bytes> StepTraffic::set_sizes(sim::OpIndex op, std::span<const Bytes> sizes) {
  const sim::GraphTemplate& graph = *plan_.graph();
  const std::size_t first = graph.bytes_begin[op];
  GRADWIRE_ASSERT(sizes.size() == graph.bytes_begin[op + 1] - first);
  std::copy(sizes.begin(), sizes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(first));
  return bytes_;
}

void StepTraffic::move(std::size_t bucket, std::size_t stage, std::span<const Bytes> sizes,
                       sim::DataHandler& handler, std::size_t owner) {
  move(plan_.collective(bucket, stage, owner), sizes, handler);
}

void StepTraffic::move(sim::OpIndex op, std::span<const Bytes> sizes, sim::DataHandler& handler) {
  CountingHandler counting(handler, kept_);
  sim::interpret(*plan_.graph(), op, set_sizes(op, sizes), counting, missing_of(op, sizes));
  payload_ += counting.crossed();
}

void StepTraffic::charge(std::size_t bucket, std::size_t stage, std::span<const Bytes> sizes,
                         Bytes payload, std::size_t owner) {
  charge(plan_.collective(bucket, stage, owner), sizes, payload);
}

void StepTraffic::charge(sim::OpIndex op, std::span<const Bytes> sizes, Bytes payload) {
  set_sizes(op, sizes);
  payload_ += payload;
}

Bytes dense_bytes(const ExchangeSettings& settings, const Layout& layout) {
  const bool ring = is_ring(settings.all_reduce);
  const std::int64_t times = settings.server ? settings.workers : settings.workers - 1;
  if (settings.server || ring) return Bytes(2 * times * layout.elements() * 4);
  Bytes sum{0};
  for (std::size_t b = 0; b < layout.buckets().size(); ++b) {
    sum += reduction_bytes(all_reduce_spec(settings, layout.buckets()[b].count, b));
  }
  return sum;
}

std::int64_t dense_messages(const ExchangeSettings& settings, const Layout& layout) {
  if (settings.server) return 0;
  std::int64_t sum = 0;
  for (std::size_t b = 0; b < layout.buckets().size(); ++b) {
    const std::int64_t elements = layout.buckets()[b].count;
    // Hops of empty chunks send nothing.
    if (is_ring(settings.all_reduce)) {
      sum += 2 * (settings.workers - 1) * std::min<std::int64_t>(settings.workers, elements);
    } else {
      const sim::CollectiveSpec spec = all_reduce_spec(settings, elements, b);
      sum += sim::make_generator(spec, {})->transfers_total();
    }
  }
  return sum;
}

std::unique_ptr<Exchange> make_exchange(const ExchangeSettings& settings, const Layout& layout,
                                        StateStore& states) {
  if (!settings.kept.empty()) return make_masked_exchange(settings, layout, states);
  const compressors::Codec& codec = *settings.codec;
  if (settings.scatter) return make_requantize_exchange(settings, layout, states);
  if (settings.server && settings.weights_down)
    return make_gather_exchange(settings, layout, states);
  // Other collectives add in an order of their own, which moving every hop gives.
  const bool ring = is_ring(settings.all_reduce);
  if (compressors::is_plain_codec(codec.name()) && (settings.server || ring) &&
      !settings.dense_through_terms) {
    return make_dense_exchange(settings, layout);
  }
  switch (codec.policy()) {
    case compressors::AggregatePolicy::kSum:
      return make_sum_exchange(settings, layout, states);
    case compressors::AggregatePolicy::kGather:
      return make_gather_exchange(settings, layout, states);
    case compressors::AggregatePolicy::kRequantize:
      // A server needs nobody to own a chunk.
      return settings.server ? make_gather_exchange(settings, layout, states)
                             : make_requantize_exchange(settings, layout, states);
    case compressors::AggregatePolicy::kServer:
      if (settings.server) return make_gather_exchange(settings, layout, states);
      throw TrainerError("exchange gradients with", codec.name(),
                         "only a server can combine its messages",
                         "set /exchange/collective to parameter-server", ErrorKind::kScenario);
  }
  GRADWIRE_ASSERT(false);
  return nullptr;
}

}  // namespace gradwire::trainers
