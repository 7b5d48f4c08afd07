#include "results/points/log_points.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/units.h"
#include "results/points/iperf_log.h"
#include "results/points/log_lines.h"
#include "results/points/nccl_log.h"
#include "results/prediction/step_model.h"

namespace gradwire::results {
namespace {

/// Of the shortest time, the least share that its bytes must leave unexplained: below it, larger
/// messages' better use of the link passes for delay.
constexpr double kSeenDelay = 0.5;
/// A time that is printed less precisely than that is not known better.
constexpr double kFewDigits = 0.01;

enum class LogKind { kNccl, kIperf };

LogKind kind_of(const LogFile& log) {
  if (is_nccl_log(log.text)) return LogKind::kNccl;
  for (const char* sign : {"bits/sec", "Bytes/sec", "bits_per_second", "iperf", "test_start"})
    if (log.text.find(sign) != std::string::npos) return LogKind::kIperf;
  refuse_log(log.name, 0, "it is neither a log of nccl-tests nor one of iperf3",
             "give all that the program printed");
}

double usual_efficiency() {
  return usual_constants()[static_cast<std::size_t>(StepConstant::kEfficiency)];
}

std::string rate_text(double bytes_per_s) {
  return format_rate(BitsPerSecond(8 * bytes_per_s));
}

std::string note_of(const std::string& name, const IperfLog& iperf) {
  std::string note = name + ": " + rate_text(iperf.bytes_per_s) + " arrived";
  if (iperf.retransmits)
    note += ", " + std::to_string(static_cast<long long>(*iperf.retransmits)) +
            " retransmissions (not taken for loss: full queues cause them too)";
  if (iperf.round_trip_s) note += ", round trip " + format_duration(Seconds(*iperf.round_trip_s));
  return note;
}

/// One way over one link: two hops of half the bytes, as a tree of two has them.
StepPoint transfer(const std::string& name, const IperfLog& iperf, const LinkFacts& facts) {
  StepPoint point;
  point.name = name;
  point.seconds = iperf.seconds;
  point.provenance = Provenance::kMeasured;
  point.step.exchange = ExchangeKind::kTreeAllReduce;
  point.step.workers = 2;
  point.step.bandwidth = *facts.bandwidth;
  point.step.delay_s = facts.delay_s.value_or(0) / 2;
  point.step.loss = facts.loss.value_or(0);
  point.step.buckets.resize(1);
  point.step.buckets[0].message_bytes = iperf.bytes_per_s * iperf.seconds / 2;
  return point;
}

void take_iperf(std::span<const LogFile> logs, const LinkFacts& given, LogPoints& found) {
  std::vector<std::pair<std::string, IperfLog>> read;
  for (const LogFile& log : logs) {
    if (kind_of(log) != LogKind::kIperf) continue;
    const IperfLogs file = read_iperf_log(log.text, log.name);
    for (const IperfLog& iperf : file.tests)
      read.emplace_back(log_place(log.name, iperf.line), iperf);
    found.list.warnings.insert(found.list.warnings.end(), file.unread.begin(), file.unread.end());
  }
  if (read.empty()) return;
  for (const auto& [name, iperf] : read) {
    found.list.notes.push_back(note_of(name, iperf));
    if (!given.delay_s && iperf.round_trip_s)
      found.facts.delay_s =
          std::min(found.facts.delay_s.value_or(*iperf.round_trip_s), *iperf.round_trip_s / 2);
    if (given.bandwidth) found.list.points.push_back(transfer(name, iperf, found.facts));
  }
  if (given.bandwidth) return;
  const auto least = std::min_element(read.begin(), read.end(), [](const auto& a, const auto& b) {
    return a.second.bytes_per_s < b.second.bytes_per_s;
  });
  found.facts.bandwidth = least->second.bytes_per_s / usual_efficiency();
  found.list.notes.push_back("line rate: " + rate_text(*found.facts.bandwidth) +
                             ", of which that is the usual share (--bandwidth states it)");
}

class NcclPoints {
 public:
  NcclPoints(const LogFile& log, const NcclRun& run, const LinkFacts& facts, PointList& list)
      : log_(log), run_(run), facts_(facts), list_(list) {
    gathers_ = run.test != NcclTest::kAllReduce;
    exchange_ = run.test == NcclTest::kAllToAll ? ExchangeKind::kDirectAllGather
                : gathers_                      ? ExchangeKind::kRingAllGather
                           : facts.exchange.value_or(ExchangeKind::kRingAllReduce);
    find_link();
    list.warnings.insert(list.warnings.end(), run.notes.begin(), run.notes.end());
    for (const NcclRow& row : run.rows) add(row);
    if (!run.finished)
      list.warnings.push_back(log.name + " ends before its summary: what is there is taken");
    if (run.hosts > 1 && run.hosts < run.ranks)
      list.warnings.push_back(log.name + ": ranks share " + std::to_string(run.hosts) +
                              " hosts; links inside and between them are taken as one kind");
    if (run.groups > 1)
      list.warnings.push_back(log.name + ": " + std::to_string(run.groups) + " groups of " +
                              std::to_string(run.ranks) +
                              " ranks ran side by side; links are taken as each group's own");
  }

 private:
  void find_link() {
    double best = 0, algbw = 0;
    const NcclRow* first = &run_.rows.front();
    for (const NcclRow& row : run_.rows) {
      if (row.bytes < first->bytes) first = &row;
      for (const NcclTiming& timing : row.timings) {
        best = std::max(best, timing.busbw);
        algbw = std::max(algbw, timing.algbw);
      }
    }
    if (best <= 0)
      refuse_log(log_.name, first->line, "every bandwidth in it is 0", "measure longer messages");
    bandwidth_ = facts_.bandwidth.value_or(best * (1 + kAcknowledgements) / usual_efficiency());
    if (!facts_.bandwidth)
      list_.notes.push_back(log_.name + ": line rate not stated, taken as " +
                            rate_text(bandwidth_) + " from its largest busbw (--bandwidth)");
    if (best > bandwidth_)
      list_.warnings.push_back(log_.name + ": its bus bandwidth, " + rate_text(best) +
                               ", is above the line rate, " + rate_text(bandwidth_) +
                               ": were they measured on the same links?");
    delay_ = facts_.delay_s ? *facts_.delay_s : seen_delay(*first, algbw);
  }

  /// From the shortest message: what its bytes do not explain, over its hops.
  double seen_delay(const NcclRow& first, double algbw) {
    double shortest = first.timings.front().seconds;
    for (const NcclTiming& timing : first.timings) shortest = std::min(shortest, timing.seconds);
    double hops = 0;
    for (const Hops& hop : hops_of(exchange_, run_.ranks)) hops += hop.count;
    const double waiting = shortest - first.bytes / algbw;
    if (waiting < kSeenDelay * shortest) {
      list_.warnings.push_back(log_.name +
                               ": no size is short enough to show the links' delay, "
                               "which is taken as 0 (--delay)");
      return 0;
    }
    list_.notes.push_back(log_.name + ": delay not stated, taken as " +
                          format_duration(Seconds(waiting / hops)) +
                          " a hop from its shortest message (--delay)");
    return waiting / hops;
  }

  void add(const NcclRow& row) {
    for (std::size_t i = 0; i < row.timings.size(); ++i) {
      const std::string place = row.line > 0
                                    ? "line " + std::to_string(row.line)
                                    : format_bytes(Bytes(static_cast<std::int64_t>(row.bytes)));
      const std::string name = log_.name + " " + place + (i == 0 ? " out of place" : " in place");
      if (row.timings[i].wrong)
        list_.warnings.push_back(name + ": its results were wrong; left out");
      else
        list_.points.push_back(point(row, row.timings[i], name));
    }
  }

  StepPoint point(const NcclRow& row, const NcclTiming& timing, const std::string& name) const {
    StepPoint point{name, {}, timing.seconds, 0, Provenance::kMeasured};
    if (timing.blur > kFewDigits) point.relative_error = timing.blur;
    point.step.exchange = exchange_;
    point.step.workers = run_.ranks;
    point.step.bandwidth = bandwidth_;
    point.step.delay_s = delay_;
    point.step.loss = facts_.loss.value_or(0);
    point.step.buckets.resize(1);
    point.step.buckets[0].message_bytes = gathers_ ? row.bytes / run_.ranks : row.bytes;
    return point;
  }

  const LogFile& log_;
  const NcclRun& run_;
  const LinkFacts& facts_;
  PointList& list_;
  bool gathers_ = false;
  ExchangeKind exchange_{};
  double bandwidth_ = 0, delay_ = 0;
};

}  // namespace

LogPoints points_from_logs(std::span<const LogFile> files, const LinkFacts& given) {
  LogPoints found{{}, given};
  std::vector<LogFile> logs;
  for (const LogFile& file : files) logs.push_back({file.name, plain_log(file.text, file.name)});
  take_iperf(logs, given, found);
  for (const LogFile& log : logs) {
    if (kind_of(log) != LogKind::kNccl) continue;
    for (const NcclRun& run : read_nccl_log(log.text, log.name))
      NcclPoints(log, run, found.facts, found.list);
  }
  check_points(found.list);
  return found;
}

}  // namespace gradwire::results
