#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compressors/codec.h"
#include "compressors/codec_plan.h"
#include "scenarios/scenario.h"
#include "sim/graph/interpreter.h"
#include "sim/graph/payloads.h"
#include "trainers/channel/state_store.h"
#include "trainers/channel/tensor_spec.h"
#include "trainers/device/device_step.h"
#include "trainers/layout.h"
#include "trainers/timing/step_template.h"

/// How gradients become their mean: which messages cross the network, and what is in them. Works on
/// spans of floats; no LibTorch. docs/adding-a-method.md tells how to add one.
///
/// What crosses, by exchange and codec:
/// - ring, none: ring all-reduce of fp32;
/// - ring, none and kSum, with /exchange/zero: a reduce-scatter in the all-reduce's place: the mean
///   is then of parts that lie at one worker each (trainers/updates/shards.h);
/// - ring, kSum: scales by ring all-gather (4 B a tensor, where the codec shares scales), then a
///   ring all-reduce of packed partial sums: a hop of j contributors has width_bits(j) bits an
///   element;
/// - tree, halving-doubling, two-level, kSum: the same by that all-reduce, scales by a direct
///   all-gather, which takes one hop;
///   Decorated codecs too: what is clipped, fed back or accelerated is what scales and terms are
///   of. With rules the tensors of each codec have a collective of their own
///   (trainers/routes/sum_groups.h);
/// - ring, kRequantize: each worker's message for every other's chunk of the bucket, straight to
///   the owner; then a ring all-gather of the owners' encoded sums;
/// - ring, kGather: ring all-gather of each worker's message;
/// - direct, kGather and kRequantize: as round a ring, with a direct all-gather;
/// - in-network, kSum: the same by switches that add up what passes them;
/// - scatter-reduce: every codec but kServer as kRequantize round a ring;
/// - parameter-server, kSum: scales pushed and pulled, terms of one worker pushed, the packed sum
///   of N pulled;
/// - parameter-server, any other: messages pushed; the server decodes and adds; the sum pulled,
///   sparse or dense, whichever is smaller. With k shards each has its part of every bucket,
///   pushes and pulls of its own: elements (and scales) [floor(s E / k), floor((s + 1) E / k)); of
///   messages the parts that trainers/routes/tensor_parts.h cuts, each encoded by itself where k
///   > 1.
///
/// Sums that a server or an owner sends on are times sum_scale().
///
/// Messages. kGather: for each tensor of the bucket u32 length, then the codec's payload;
/// kRequantize: the same for each tensor's part of the chunk (trainers/routes/tensor_parts.h). Sum
/// from the server after kGather: u32 count, then count pairs (u32 element, f32 value) of what is
/// not zero; or, where that is larger, u32 0xffffffff and every element as f32. All little-endian.
namespace gradwire::trainers {

/// Codec times of one bucket on one worker; see scenarios::ComputeProfile::Bucket.
struct CodecSeconds {
  Seconds scale{0}, encode{0}, decode{0}, aggregate{0};
};

/// The traffic of one step: hands graph operations to the interpreter and keeps the books.
class StepTraffic {
 public:
  /// `missing`: what the executor says has not arrived, of messages as they were planned. A message
  /// that has another size, since what it tells of has lost something before, loses the same share.
  StepTraffic(const StepTemplate& plan, std::vector<Bytes>& bytes,
              std::span<const sim::MissingData> missing = {});
  /// From now on what is moved is kept there, too; null: nowhere. Must outlive this object's moves.
  void keep_in(sim::Payloads* payloads) { kept_ = payloads; }
  /// Whether every hop must be moved, though the sum be known without.
  bool needs_hops() const { return loses() || kept_ != nullptr; }
  /// Whether something is missing: workers may then end with different means.
  bool loses() const { return !missing_.empty(); }
  /// Moves the data of that collective. `sizes`: its messages by rank; empty for reductions.
  /// `owner`: which of the collectives of a scatter, or of the shards.
  void move(std::size_t bucket, std::size_t stage, std::span<const Bytes> sizes,
            sim::DataHandler& handler, std::size_t owner = 0);
  /// For exchanges that add up directly: that collective would have carried this much.
  void charge(std::size_t bucket, std::size_t stage, std::span<const Bytes> sizes, Bytes payload,
              std::size_t owner = 0);
  /// The same of a collective that is no stage of a bucket.
  void move(sim::OpIndex op, std::span<const Bytes> sizes, sim::DataHandler& handler);
  void charge(sim::OpIndex op, std::span<const Bytes> sizes, Bytes payload);
  const StepTemplate& plan() const { return plan_; }
  Bytes payload() const { return payload_; }

 private:
  std::span<const Bytes> set_sizes(sim::OpIndex op, std::span<const Bytes> sizes);
  std::vector<sim::MissingData> missing_of(sim::OpIndex op, std::span<const Bytes> sizes) const;
  const StepTemplate& plan_;
  std::vector<Bytes>& bytes_;
  std::vector<sim::MissingData> missing_;  ///< by operation
  Bytes payload_{0};
  sim::Payloads* kept_ = nullptr;
};

struct ExchangeSettings {
  int workers = 1;
  bool server = false;  ///< parameter server instead of collectives among workers
  int shards = 1;       ///< hosts over which it is spread, each with an equal part of a bucket
  sim::CollectiveKind all_reduce = sim::CollectiveKind::kRingAllReduce;
  sim::CollectiveKind all_gather = sim::CollectiveKind::kRingAllGather;
  int group = 1;                     ///< two-level all-reduce: workers of a group
  std::vector<std::int32_t> parent;  ///< in-network: CollectiveSpec::parent
  bool scatter = false;  ///< any codec as kRequantize: scatter, reduce at owners, all-gather
  compressors::CodecPtr codec;
  /// kRequantize round a ring: what owners encode sums with; null: `codec`. Momentum and clipping,
  /// which are for gradients, are not in it.
  compressors::CodecPtr requantizer;
  bool keep_rows = false;  ///< kRequantize: cut tensors between rows only
  /// A server that decodes messages: what it encodes the sum with that it sends back; null: fp32,
  /// sparse or dense, whichever is smaller.
  compressors::CodecPtr answer;
  /// A server that decodes messages sends new weights in place of the sum (Exchange::answer).
  bool weights_down = false;
  std::uint64_t seed = 1;
  /// Where gradients are encoded if they are device memory, which nothing else reads then; null:
  /// they are host memory. Outlives the exchange.
  DeviceEncoder* device = nullptr;
  /// By parameter, how many elements are sent: those of its mask. Empty: all.
  std::vector<std::int64_t> kept;
  /// The masks, 1 or 0 an element, one parameter's after the other; empty where only sizes are
  /// wanted. Must not change while the exchange is used.
  std::span<const float> mask;
  /// Of the layout, those that this exchange carries: tensors that a method treats alike. Empty:
  /// all.
  std::vector<std::size_t> buckets;
  /// For tests: every worker's replica of the mean is computed from what that worker received.
  bool every_replica = false;
  /// For tests: `none` through terms, packing and the interpreter instead of adding up directly.
  bool dense_through_terms = false;
};
ExchangeSettings exchange_settings(const scenarios::Scenario& scenario);
/// Of tensors that are sent by this plan, whatever the scenario's method.
ExchangeSettings exchange_settings(const scenarios::Scenario& scenario,
                                   const compressors::CodecPlan& plan);

/// What sums of all workers are multiplied with where they are encoded again: the largest power of
/// two that is at most 1 / workers, so that they stay in the range of what each worker sent. It
/// changes no digit of a float.
float sum_scale(int workers);
/// What such a sum is multiplied with to be the mean.
float mean_factor(int workers);

/// The numbers of the buckets that an exchange of these settings carries, ascending, and of their
/// tensors.
std::vector<std::size_t> buckets_of(const ExchangeSettings& settings, const Layout& layout);
std::vector<std::size_t> tensors_of(std::span<const std::size_t> buckets, const Layout& layout);

/// One step is: propose and encode for each worker (any threads, side by side for different
/// workers), with agree between them where scales are shared; then combine. Gradients handed in
/// stay valid until combine returns.
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// `aggregate`: what adding one bucket's worth of a hop takes (paces the ring's hops).
  virtual std::vector<Stage> stages(std::size_t bucket, Seconds aggregate) const = 0;
  virtual bool shares_scales() const { return false; }
  /// Whether the workers' scales of that bucket are agreed on.
  virtual bool shares_scales_of(std::size_t /*bucket*/) const { return shares_scales(); }
  virtual void propose(int /*worker*/, GradientSpans) {}
  virtual void agree(StepTraffic&) {}
  virtual void encode(int worker, GradientSpans gradients, std::int64_t step) = 0;
  /// mean[layout.elements()] = mean over workers of what their messages say, as worker 0 has it.
  /// What the traffic says is missing counts as zero; the sum is divided by all workers still.
  virtual void combine(StepTraffic& traffic, std::span<float> mean) = 0;
  /// Whether the update comes before the last message: combine() then leaves the mean as the server
  /// has it, and answer() sends what the update made of `weights`, which become what arrived.
  virtual bool answers_weights() const { return false; }
  virtual void answer(StepTraffic&, std::span<float> /*weights*/) {}
  /// For replayed profiles: charges what one step sends, by formula, without any data. Equals what
  /// agree and combine would charge where the codec fills max_encoded_size(n) whatever the values.
  /// Throws TrainerError where a message's size depends on values in other ways.
  virtual void charge(StepTraffic& traffic) const = 0;
  /// With ExchangeSettings::every_replica, or where the traffic lost something, after combine:
  /// worker's own mean.
  virtual std::span<const float> replica(int worker) const = 0;
  /// Times worker 0's codec on these gradients (median of `repetitions`), leaving no trace.
  virtual CodecSeconds time_bucket(std::size_t bucket, GradientSpans gradients,
                                   int repetitions) = 0;
};

/// `layout` and `states` must outlive the exchange. Throws TrainerError for a codec whose policy
/// this exchange cannot serve.
std::unique_ptr<Exchange> make_exchange(const ExchangeSettings& settings, const Layout& layout,
                                        StateStore& states);

/// What the same exchange sends in a step with fp32 values: 2 (N - 1) E 4 bytes round a ring (or
/// where messages are gathered), 2 N E 4 to and from a server, all workers together.
Bytes dense_bytes(const ExchangeSettings& settings, const Layout& layout);
/// In so many messages; 0 for a server, which is sent as many whatever they hold.
std::int64_t dense_messages(const ExchangeSettings& settings, const Layout& layout);

/// The step graph of these workers, buckets and this exchange; `profile` paces the ring's hops.
/// Throws TrainerError where its buckets are not the layout's.
std::unique_ptr<StepTemplate> make_step_template(const scenarios::Scenario& scenario,
                                                 const Layout& layout, const Exchange& exchange,
                                                 const scenarios::ComputeProfile& profile);

/// The all-reduce of these settings.
sim::CollectiveSpec all_reduce_spec(const ExchangeSettings& settings, std::int64_t elements,
                                    std::size_t bucket);

/// Bytes that all workers together send in a reduction: sim::total_payload, at once for rings,
/// whose hop h < N - 1 carries every chunk once, as the partial sum of h + 1 workers; the later
/// hops full sums.
Bytes reduction_bytes(const sim::CollectiveSpec& spec);

// The exchanges, a file each.
std::unique_ptr<Exchange> make_dense_exchange(const ExchangeSettings&, const Layout&);
std::unique_ptr<Exchange> make_sum_exchange(const ExchangeSettings&, const Layout&, StateStore&);
std::unique_ptr<Exchange> make_gather_exchange(const ExchangeSettings&, const Layout&, StateStore&);
std::unique_ptr<Exchange> make_masked_exchange(const ExchangeSettings&, const Layout&, StateStore&);
std::unique_ptr<Exchange> make_requantize_exchange(const ExchangeSettings&, const Layout&,
                                                   StateStore&);

/// What a device brought to the host as DevicePayload::kValues: the gradients of `worker` by
/// tensor; of a worker -1, that was only timed, those of `bucket` (the others are empty).
std::vector<std::span<const float>> device_values(const DeviceEncoder& device, const Layout& layout,
                                                  int worker,
                                                  std::optional<std::size_t> bucket = {});

}  // namespace gradwire::trainers
