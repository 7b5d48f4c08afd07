#include "results/runs/step_window.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace gradwire::results {
namespace {

/// What of `piece` lies within the window; whether anything does.
template <class Piece>
bool cut(Piece& piece, const StepWindow& window) {
  piece.start_s = std::max(piece.start_s, window.start_s);
  piece.end_s = std::min(piece.end_s, window.end_s);
  return piece.end_s > piece.start_s;
}

template <class Piece>
std::vector<Piece> cut_to(const StepWindow& window, std::span<const Piece> pieces) {
  std::vector<Piece> left;
  for (Piece piece : pieces)
    if (cut(piece, window)) left.push_back(std::move(piece));
  return left;
}

/// Hosts that have no part in the step, and less than this share of its time in the window: work
/// that begins where the step ends.
constexpr double kLeastShare = 1e-3;
void leave_out_touching(StepWindow& window, std::span<const TimelineSegment> segments) {
  std::set<std::int32_t> own;
  for (const TimelineSegment& segment : segments)
    if (segment.step == window.step) own.insert(segment.worker);
  std::erase_if(window.hosts, [&](const WorkerTimes& host) {
    const double busy_s =
        seconds_of(host.compute) + seconds_of(host.exposed_codec) + seconds_of(host.network);
    return !own.contains(host.worker) && busy_s < kLeastShare * window.length_s();
  });
}

}  // namespace

std::optional<StepWindow> middle_step(std::span<const TimelineSegment> segments,
                                      std::span<const TimelineSegment> path) {
  std::set<std::int64_t> steps;
  for (const TimelineSegment& segment : segments) steps.insert(segment.step);
  if (steps.empty()) return {};
  StepWindow window;
  window.step = *std::next(steps.begin(), static_cast<std::ptrdiff_t>(steps.size() / 2));
  window.start_s = std::numeric_limits<double>::infinity();
  window.end_s = -window.start_s;
  for (const TimelineSegment& segment : segments) {
    if (segment.step != window.step) continue;
    window.start_s = std::min(window.start_s, segment.start_s);
    window.end_s = std::max(window.end_s, segment.end_s);
  }
  if (!(window.length_s() > 0)) return {};
  const std::vector<TimelineSegment> inside = cut_to(window, segments);
  window.hosts = times_of_workers(inside);
  leave_out_touching(window, inside);
  window.path = cut_to(window, path);
  return window;
}

std::vector<BusyTime> joined(std::span<const BusyTime> times, double pause_s) {
  std::vector<BusyTime> result;
  for (const BusyTime& each : times) {
    if (!result.empty() && each.start_s - result.back().end_s < pause_s)
      result.back().end_s = each.end_s;
    else
      result.push_back(each);
  }
  return result;
}

std::vector<double> mean_shares(const StepWindow& window, int workers,
                                std::vector<BusyTime> WorkerTimes::*kind, std::size_t bins) {
  std::vector<double> shares(bins, 0.0);
  const double width = window.length_s() / static_cast<double>(bins);
  int counted = 0;
  for (const WorkerTimes& host : window.hosts) {
    if (host.worker >= workers) continue;
    ++counted;
    for (const BusyTime& each : host.*kind) {
      const double from = (each.start_s - window.start_s) / width;
      const double to = (each.end_s - window.start_s) / width;
      for (auto bin = static_cast<std::size_t>(from); bin < bins && double(bin) < to; ++bin)
        shares[bin] += std::min(to, double(bin + 1)) - std::max(from, double(bin));
    }
  }
  for (double& share : shares) share /= std::max(1, counted);
  return shares;
}

}  // namespace gradwire::results
