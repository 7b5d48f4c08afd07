#pragma once
#include <algorithm>
#include <string_view>
#include <vector>

/// What a collective costs in hops and bytes, as closed forms see it.
namespace gradwire::results {

enum class ExchangeKind {
  kRingAllReduce,
  kRingAllGather,
  kDirectAllGather,
  kParameterServer,
  kTreeAllReduce,
  kHalvingDoubling,
  kTwoLevel,
  kInNetwork,
  kScatterReduce,  ///< chunks to their owners, who add; then a ring all-gather of the sums
};
std::string_view name_of(ExchangeKind kind);
/// By sim's names ("ring-all-reduce") or those of `exchange.collective`; false where it is none of
/// them.
bool exchange_kind(std::string_view name, ExchangeKind& kind);

/// `count` hops that follow one another; in each, a link carries `share` messages, of `flows`
/// transfers side by side.
struct Hops {
  double count = 0;
  double share = 0;
  double flows = 1;
  /// Links carry messages in both directions at once, and so each other's acknowledgements.
  bool both_ways = false;
  /// Each hop's messages follow the last hop's on the same connections (rings).
  bool same_connections = false;
  double least = 0;  ///< bytes of a message that go at least, of one that has so many
  double bytes_of(double message) const {
    return std::max(share * message, std::min(message, least));
  }
};

/// The hops on the busiest path for n >= 1 workers, a message being one worker's whole (encoded)
/// gradient. n = 1: none, but to and from a server.
///
/// | kind | hops | share of a message |
/// |---|---|---|
/// | ring all-reduce | 2 (n - 1) | 1 / n |
/// | ring all-gather | n - 1 | 1 |
/// | direct all-gather | 1 | n - 1, of n - 1 flows |
/// | parameter server | 2 | n, of n flows: the server's link |
/// | tree all-reduce | 2 of each of ceil(log2 n) levels | 1 |
/// | halving-doubling | 2 of each of 1/2, 1/4, ... 1/P, P = the power of two at or below n; 2 of
/// 1 more unless n = P |
/// | two-level, groups of g | in and out: 1 of g - 1; ring of m = ceil(n / g) leaders |
/// | in-network: up and down follow each other by chunks | 1, then 1 of the last chunk | 1, 1 / 64
/// and 64 KiB or more |
/// | scatter-reduce | 1 of n - 1 flows, then n - 1 | (n - 1) / n, then 1 / n |
std::vector<Hops> hops_of(ExchangeKind kind, int workers, int group = 8);

/// What a bucket's second exchange goes by: a prelude before its gradients, or the sums of a
/// scatter-reduce behind its chunks.
ExchangeKind second_kind(ExchangeKind kind);

/// Bytes of messages over the busiest link, in messages: sum of count times share.
double messages_carried(ExchangeKind kind, int workers, int group = 8);

/// Messages that all workers (and the server) together send, on every link they leave by.
double messages_sent(ExchangeKind kind, int workers);

/// Transfers that these are cut into: rings send chunks, two-level exchanges whole messages within
/// a group and chunks between leaders.
double transfers_sent(ExchangeKind kind, int workers, int group = 8);

/// How many messages a worker decodes (its own among them), and how many are added one after the
/// other on the way: all-gathers decode all, a server adds all, rings add (n - 1) / n of one.
double decodes_of(ExchangeKind kind, int workers);
double additions_of(ExchangeKind kind, int workers, int group = 8);

}  // namespace gradwire::results
