#include "gui/timeline/timeline_path.h"

#include <QStringList>
#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "base/units.h"

namespace gradwire::gui {

using results::TimelineSegment;

namespace {

using Index = std::uint32_t;

class ChainFinder {
 public:
  explicit ChainFinder(const RunTimeline& timeline) : timeline_(timeline) {
    for (std::size_t i = 0; i < timeline.path_segments.size(); ++i) {
      known_.emplace(timeline.path_segments[i], i + 1);
    }
  }

  CriticalChain to(Index segment) const {
    CriticalChain chain;
    std::optional<Index> at = segment;
    if (of(segment).lane == kWaitLane) at = before(of(segment).worker, of(segment).end_s, segment);
    // As many steps back as there are segments: times that are equal make no circle.
    for (std::size_t left = timeline_.stored; at && left > 0; --left) {
      if (const auto known = known_.find(*at); known != known_.end()) {
        take_known(known->second, chain);
        break;
      }
      chain.segments.push_back(*at);
      at = cause_of(*at);
    }
    std::ranges::reverse(chain.segments);
    add_shares(chain);
    return chain;
  }

 private:
  const TimelineSegment& of(Index segment) const { return timeline_.segments[segment]; }

  void take_known(std::size_t count, CriticalChain& chain) const {
    chain.known = count;
    for (std::size_t i = count; i-- > 0;) chain.segments.push_back(timeline_.path_segments[i]);
  }

  /// What ended last on `worker` at `time_s` or before, other than `self`; of several at once, what
  /// began last.
  std::optional<Index> before(std::int32_t worker, double time_s, Index self) const {
    const auto& ends = timeline_.by_end;
    auto last = std::partition_point(ends.begin(), ends.end(), [&](Index i) {
      return std::tuple(of(i).worker, of(i).end_s) <= std::tuple(worker, time_s + kTimelineTick);
    });
    std::optional<Index> best;
    while (last != ends.begin()) {
      const Index i = *--last;
      if (of(i).worker != worker) break;
      if (best && of(i).end_s < of(*best).end_s - kTimelineTick) break;
      // What took no time at all would follow itself.
      if (i == self || of(i).start_s >= time_s) continue;
      if (!best || of(i).start_s > of(*best).start_s) best = i;
    }
    return best;
  }

  std::optional<Index> cause_of(Index segment) const {
    if (of(segment).lane != results::kTransferLane) {
      return before(of(segment).worker, of(segment).start_s, segment);
    }
    std::optional<Index> best;
    double ready_s = -1;
    for (const Index peer : peers_of(segment)) {
      const double start_s = of(peer).start_s;
      if (start_s > of(segment).end_s || start_s < ready_s - kTimelineTick) continue;
      const auto cause = before(of(peer).worker, start_s, peer);
      const bool later = start_s > ready_s + kTimelineTick;
      if (!later && (!cause || (best && of(*cause).end_s <= of(*best).end_s))) continue;
      best = cause;
      ready_s = start_s;
    }
    return best;
  }

  /// The ranks of its collective, or the two hosts of its transfer; itself among them.
  std::vector<Index> peers_of(Index segment) const {
    const auto key = [&](Index i) { return std::tuple(of(i).step, timeline_.label_of[i]); };
    const auto [first, last] =
        std::equal_range(timeline_.transfers.begin(), timeline_.transfers.end(), segment,
                         [&](Index a, Index b) { return key(a) < key(b); });
    std::vector<Index> same, all(first, last);
    bool transfer = false;
    for (const Index i : all) {
      if (of(i).start_s != of(segment).start_s || of(i).end_s != of(segment).end_s) continue;
      same.push_back(i);
      // A transfer's bytes stand at its source alone, a collective's at every rank.
      transfer = transfer || of(i).bytes == 0;
    }
    return transfer ? same : all;
  }

  void add_shares(CriticalChain& chain) const {
    double done_s = timeline_.rows.start_s;
    for (const Index i : chain.segments) {
      const bool waits = of(i).lane == results::kTransferLane;
      const double begin_s = waits ? done_s : std::max(of(i).start_s, done_s);
      chain.pause_s += begin_s - done_s;
      chain.share_s.push_back(std::max(0.0, of(i).end_s - begin_s));
      done_s = std::max(done_s, of(i).end_s);
    }
  }

  const RunTimeline& timeline_;
  std::unordered_map<Index, std::size_t> known_;  ///< number on the run's own critical path, from 1
};

}  // namespace

CriticalChain chain_to(const RunTimeline& timeline, Index segment) {
  return ChainFinder(timeline).to(segment);
}

CriticalChain chain_to_end(const RunTimeline& timeline) {
  std::optional<Index> last;
  for (Index i = 0; i < timeline.stored; ++i) {
    if (!last || timeline.segments[i].end_s > timeline.segments[*last].end_s) last = i;
  }
  return last ? chain_to(timeline, *last) : CriticalChain{};
}

QString chain_text(const RunTimeline& timeline, const CriticalChain& chain) {
  if (chain.segments.empty()) return "Nothing held it up.";
  std::array<double, kPhases> phases{};
  for (std::size_t i = 0; i < chain.segments.size(); ++i) {
    const Phase phase = phase_of(timeline.segments[chain.segments[i]]);
    phases[static_cast<std::size_t>(phase)] += chain.share_s[i];
  }
  const TimelineSegment& last = timeline.segments[chain.segments.back()];
  const double length_s = std::max(last.end_s - timeline.rows.start_s, kTimelineTick);
  QStringList parts;
  const auto add = [&](const char* name, double seconds) {
    const double percent = 100 * seconds / length_s;
    if (percent >= 0.5) parts << QString("%1 %2 %").arg(name).arg(percent, 0, 'f', 0);
  };
  for (int p = 0; p < kPhases; ++p) add(name_of(Phase(p)), phases[static_cast<std::size_t>(p)]);
  add("pauses", chain.pause_s);
  const std::size_t guessed = chain.segments.size() - chain.known;
  const QString origin = guessed == 0       ? QString("the run's own critical path")
                         : chain.known == 0 ? QString("from the times of its segments")
                                            : QString("the last %1 from their times").arg(guessed);
  return QString("Critical path to \"%1\" of %2, step %3: %4 operations over %5: %6 (%7)")
      .arg(QString::fromStdString(last.label), host_text(last.worker, timeline.workers))
      .arg(last.step)
      .arg(chain.segments.size())
      .arg(QString::fromStdString(format_duration(Seconds(length_s))), parts.join(", "), origin);
}

}  // namespace gradwire::gui
