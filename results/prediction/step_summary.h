#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/plausible.h"
#include "results/prediction/correction.h"
#include "results/prediction/exchange_shape.h"

namespace gradwire::results {

/// What a bucket of gradients costs one worker.
struct BucketSummary {
  double backward_s = 0;     ///< from the bucket before it until its gradients are there
  double encode_s = 0;       ///< its message
  double decode_s = 0;       ///< one message, or the sum
  double add_s = 0;          ///< adding one message to another
  double message_bytes = 0;  ///< one worker's, encoded, without the transport's headers
  /// With a server, of the message back; message_bytes is then the mean of both ways'. 0: as there.
  double pull_bytes = 0;
  /// Exchanged before it is encoded (scales that workers agree on), by all-gather or by the server;
  /// 0 = nothing.
  double prelude_bytes = 0;
  double scale_s = 0;  ///< the part of encode_s that goes before that; 0 where nothing does
  /// Where it goes another way than most of the step's bytes: DGC's dense vectors round a ring.
  std::optional<ExchangeKind> exchange = {};
};

/// What of a step's figures was assumed (a device profile's peaks, a codec's costs), and how far
/// the truth may be from it. Times of one kind err together.
struct AssumedFigures {
  PlausibleRange compute;  ///< forward_s, backward_s, update_s
  PlausibleRange coding;   ///< encode_s, scale_s, decode_s, add_s

  bool none() const { return compute.certain() && coding.certain(); }
};
/// "compute 0.49 to 1.3 times what is assumed, codecs 1 to 100 times"; empty where nothing is.
std::string in_words(const AssumedFigures& assumed);

/// Links that hops of an exchange go by, where not all are alike: multiples of the step's figures.
/// Of a hop's transfers one sets the pace, and which one the bytes decide: it takes the longest.
struct HopPath {
  double bandwidth = 1;  ///< what a lone transfer has, of its path; of one flow, its share
  double shared = 1;     ///< of several flows side by side: what they have together
  double latency = 1;    ///< of delay_s, once a hop: 0 where hops follow each other on one path
  double delay = 1;      ///< of delay_s, of acknowledgements
  double loss = 1;
  double alike = 1;  ///< share of the workers whose paths are like this one
  bool operator==(const HopPath&) const = default;
};
/// By entry of hops_of(kind).
struct ExchangePaths {
  ExchangeKind kind{};
  std::vector<std::vector<HopPath>> hops;
};

struct StepSummary;
/// The step on another number of workers, with what the network gives that many; empty where the
/// network cannot have them.
using StepOnWorkers =
    std::function<std::optional<StepSummary>(const StepSummary& step, int workers)>;

/// A training step on a number of equal workers, as closed forms see it. A lone collective is one
/// bucket without times.
struct StepSummary {
  ExchangeKind exchange = ExchangeKind::kRingAllReduce;  ///< of most bytes
  int workers = 1;
  int group = 8;                       ///< of a two-level exchange
  double forward_s = 0;                ///< one worker
  std::vector<BucketSummary> buckets;  ///< in the order of the backward pass
  double update_s = 0;
  bool overlap = true;  ///< a bucket is sent while later ones are computed
  /// Standard deviation of a worker's compute time over its mean (0 = all alike).
  double compute_spread = 0;
  /// The slowest worker's times of compute and coding over those above: a straggler that is known.
  double slowest = 1;
  AssumedFigures assumed;

  double bandwidth = 0;         ///< of a worker's link, B/s: where links differ, of the busiest
  double server_bandwidth = 0;  ///< of the server's link, B/s; 0 = as a worker's
  double delay_s = 0;           ///< one way between two workers (the longest), of a full segment
  double forwarding_s = 0;      ///< of it, what hops take to store and forward that segment
  double loss = 0;              ///< most probable loss of a packet between two workers
  double rate_spread = 0;       ///< standard deviation of a link's rate over its mean (traces)
  double segment_bytes = 1448;  ///< of payload
  double wire_segment_bytes = 1538;  ///< what a full segment occupies on a link
  double timeout_s = 0.2;            ///< least retransmission timeout
  double delayed_ack_s = 0.04;       ///< longest delay of an acknowledgement
  /// Of the exchanges that it has, each kind once; empty: all links are alike.
  std::vector<ExchangePaths> paths;
  /// Null: no more than the number changes.
  std::shared_ptr<const StepOnWorkers> on_workers;
  Correction correction;  ///< of the exchange's time, by bytes of a message
  /// How well it is known where simulations of this very exchange gave it, relative; then they have
  /// in them what constants would say. Empty: it is over any constants.
  std::optional<double> correction_error;
  Correction prelude_correction;  ///< of a prelude's, by its bytes

  ExchangeKind exchange_of(const BucketSummary& bucket) const {
    return bucket.exchange.value_or(exchange);
  }
  /// By entry of hops_of(kind); null: all links are alike.
  const std::vector<std::vector<HopPath>>* paths_of(ExchangeKind kind) const;
  /// Losses or changing rates decide what an exchange takes: no two are alike.
  bool is_irregular() const { return loss > 0 || rate_spread > 0; }
  double message_bytes() const {
    double sum = 0;
    for (const BucketSummary& bucket : buckets) sum += bucket.message_bytes;
    return sum;
  }
};

/// The step with all compute times, or all times of coding, so many times as long.
StepSummary with_compute(const StepSummary& step, double factor);
StepSummary with_coding(const StepSummary& step, double factor);
/// What one worker does by itself: forward, backward, update, and nothing of an exchange.
StepSummary alone(const StepSummary& step);

}  // namespace gradwire::results
