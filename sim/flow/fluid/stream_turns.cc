// Who is served first where streams begin at one instant, or meet what comes to their host.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "sim/flow/fluid/fluid_network.h"

namespace gradwire::sim {
namespace {

/// More streams on one channel are served in step: their events stay together.
constexpr std::int32_t kOrdered = 64;
/// Of more flows that one host sends none waits for what comes to it.
constexpr std::int32_t kMeeting = 8;

}  // namespace

/// Streams that begin send once all is known that happens at this instant: their shares, who else
/// fills a queue, and all messages that go out together. False: those that send bursts beside
/// others have asked for more first.
bool FluidNetwork::begin_writing() {
  bool asked = false;
  for (const std::int32_t c : beginning_) {
    Connection& connection = connection_at(c);
    if (!connection.waits || connection.bursts || !may_burst(c)) continue;
    asked = connection.bursts = true;
    connection.cap = MaxMin::kNoCap;
    sharing_.set_cap(c, connection.cap);
  }
  if (asked) return false;
  order_by_turn(beginning_);
  for (const std::int32_t c : beginning_) {
    Connection& connection = connection_at(c);
    if (!connection.waits) continue;
    connection.waits = false;
    order_beginning(c);
    serve_stream(c);
    for (std::int32_t t = connection.first; t >= 0; t = transfer(t).next) write(c, t);
    demand(c);
    set_stream_due(c);
  }
  beginning_.clear();
  return true;
}

/// Who is served first does not hang on who was started first: each source's own link sends a first
/// segment to the next host, then one to the host after that, so that where all send to all nobody
/// is first everywhere; of several sources' segments the first source's is first.
void FluidNetwork::order_by_turn(std::vector<std::int32_t>& beginning) {
  if (beginning.size() < 2) return;
  const auto hosts = static_cast<std::uint64_t>(cluster_.host_count());
  std::vector<Turn> turns;
  turns.reserve(beginning.size());
  for (const std::int32_t c : beginning) {
    const std::uint64_t key = connection_at(c).key, source = key / hosts;
    const std::uint64_t further = (hosts + key % hosts - source % hosts) % hosts;
    turns.push_back(
        {0, static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(further), c});
  }
  const auto by_source = [](const Turn& a, const Turn& b) {
    return std::tie(a.source, a.further) < std::tie(b.source, b.further);
  };
  if (!std::ranges::is_sorted(turns, by_source)) std::ranges::sort(turns, by_source);
  // Then by turn: those of one are in the order of their sources already.
  std::vector<std::size_t> begins(1, 0);  // [turn + 1]: how many have it, then those before
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const bool follows = i > 0 && turns[i].source == turns[i - 1].source;
    turns[i].of_source = follows ? turns[i - 1].of_source + 1 : 0;
    if (begins.size() < turns[i].of_source + 2u) begins.push_back(0);
    ++begins[turns[i].of_source + 1];
  }
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  for (const Turn& turn : turns) beginning[begins[turn.of_source]++] = turn.connection;
}

/// Whether so few meet where the stream is held up that each has a place in the round.
bool FluidNetwork::takes_turns(std::int32_t c) const {
  const ChannelId id = sharing_.queue_of(c);
  return id >= 0 && sharing_.active_on(id) <= kOrdered;
}

/// A stream that begins where others hold it up is served at once there, as fair queueing does new
/// flows, but for the first segments of those that have begun just before it.
void FluidNetwork::order_beginning(std::int32_t c) {
  const ChannelId id = sharing_.queue_of(c);
  if (id < 0 || !takes_turns(c)) return;
  const auto at = static_cast<std::size_t>(id);
  connection_at(c).stream->set_ahead(std::max(0.0, first_free_[at] - now_));
  first_free_[at] = std::max(now_, first_free_[at]) + segment_ / capacities_[at];
}

/// The last segment of the connection's first message is known to arrive then. Its destination's
/// link is busy with it until then: acknowledgements that would come there meanwhile come behind
/// it, and what the message lets the destination send goes out before they tell anything. (In step,
/// as the ranks of a ring are, both come at one instant, hop after hop.)
void FluidNetwork::note_coming(std::int32_t c, double arrival) {
  const ChannelId last = sharing_.route(c).back();
  const bool is_tcp = transport_.protocol == TransportSettings::Protocol::kTcp;
  if (!is_tcp || transport_.constants.kernel_recovery || last >= cluster_.channel_count()) return;
  Coming& coming = coming_[static_cast<std::size_t>(last)];
  if (coming.time == arrival) return;
  coming = {arrival, connection_at(c).path->last_hop * segment_};
  if (streams_ > 0 && sharing_.active_on(last ^ 1) <= kMeeting) meet(last ^ 1, coming);
}

/// What leaves by the channel `out` of the same host learns of it.
void FluidNetwork::meet(ChannelId out, const Coming& coming) {
  met_.clear();
  sharing_.append_active(out, met_);
  for (const std::int32_t other : met_) {
    Connection& waiting = connection_at(other);
    if (waiting.state != State::kStream || sharing_.route(other).front() != out) continue;
    waiting.stream->meet(coming.time, coming.takes);
    if (!waiting.waits) due_.set(other, std::max(now_, stream_due(waiting)));
  }
}

}  // namespace gradwire::sim
