#include "results/report/timeline_drawing.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "results/runs/place.h"

namespace gradwire::results {
namespace {

using BusyList = std::vector<BusyTime>;

// Pixels.
constexpr double kTimelineGutter = 84, kTimelineRight = 14, kHeadingLine = 17, kTimeAxis = 30;
constexpr double kHostRow = 34, kMeanRow = 46, kWorkHeight = 13, kPathHeight = 4,
                 kTransferHeight = 8;
constexpr double kTimelineFont = 12, kTimelineSmall = 11;

constexpr Role kComputeRole{Role::kSeries, 0}, kCodecRole{Role::kSeries, 2},
    kNetworkRole{Role::kSeries, 1};
constexpr Role kInkRole{Role::kInk}, kMutedRole{Role::kMuted}, kGridRole{Role::kGrid};

struct LanePart {
  BusyList WorkerTimes::*times;
  const char* name;
  Role color;
  double top, height;  ///< within a row
};
constexpr LanePart kLaneParts[] = {
    {&WorkerTimes::compute, "computes", kComputeRole, 0, kWorkHeight},
    {&WorkerTimes::exposed_codec, "encodes, decodes", kCodecRole, kWorkHeight / 3,
     kWorkHeight * 2 / 3},
    {&WorkerTimes::exposed, "waits for the network", kNetworkRole, kWorkHeight - 2.5, 2.5},
    {&WorkerTimes::network, "sends, receives", kNetworkRole, kWorkHeight + kPathHeight,
     kTransferHeight},
};
/// What a mean is made of; the rest is idle.
constexpr std::size_t kMeanKinds = 3, kMeanBins = 160;

/// Hosts to draw: in order, those of the path and a server among them.
std::vector<WorkerTimes> chosen_hosts(const StepWindow& window, int workers, std::size_t most) {
  std::set<std::int32_t> chosen;
  const auto add = [&](std::int32_t host) {
    if (chosen.size() < most && host >= 0) chosen.insert(host);
  };
  if (window.hosts.size() <= most) return window.hosts;
  for (const TimelineSegment& piece : window.path) add(piece.worker);
  if (const std::int32_t last = window.hosts.back().worker; last >= workers) add(last);
  for (std::size_t i = 0; i < most; ++i) add(window.hosts[i * window.hosts.size() / most].worker);
  std::vector<WorkerTimes> hosts;
  std::ranges::copy_if(window.hosts, std::back_inserter(hosts),
                       [&](const WorkerTimes& host) { return chosen.contains(host.worker); });
  return hosts;
}

std::size_t pieces_of(const std::vector<WorkerTimes>& hosts) {
  std::size_t pieces = 0;
  for (const WorkerTimes& host : hosts)
    for (const LanePart& kind : kLaneParts) pieces += (host.*kind.times).size();
  return pieces;
}

class TimelinePainter {
 public:
  TimelinePainter(const TimelineDrawing& drawing, double width, Canvas& canvas)
      : drawing_(drawing),
        canvas_(canvas),
        x_(Scale::kLinear, {drawing.window.start_s, drawing.window.end_s}, kTimelineGutter,
           width - kTimelineRight) {}

  void paint() {
    double y = kHeadingLine;
    for (const std::string& line : drawing_.heading) {
      canvas_.text({0, y}, line, {kInkRole, kTimelineFont, y == kHeadingLine});
      y += kHeadingLine;
    }
    legend(y);
    rows_top_ = y + kHeadingLine / 2;
    axis();
    y = rows_top_ + kTimeAxis;
    if (drawing_.with_mean) {
      mean(y);
      y += kMeanRow;
    }
    first_row_ = y;
    for (const WorkerTimes& host : drawing_.rows) {
      row(host, y);
      y += kHostRow;
    }
    path();
  }

 private:
  void legend(double y) {
    double x = 0;
    const auto entry = [&](const char* name, const Rect& sample, Role color) {
      canvas_.rectangle({x + sample.x, y + sample.y, sample.width, sample.height}, color, 1);
      canvas_.text({x + 22, y}, name, {kMutedRole, kTimelineSmall});
      x += 40 + canvas_.text_width(name, {kMutedRole, kTimelineSmall});
    };
    for (const LanePart& kind : kLaneParts) {
      // The samples stand as the pieces do: a transfer's below a computation's.
      const double top = kind.top - kWorkHeight + (kind.top > kWorkHeight ? -4 : 2);
      entry(kind.name, {0, top, 16, kind.height}, kind.color);
    }
    if (!drawing_.window.path.empty()) entry("critical path", {0, -6, 16, 3}, kInkRole);
  }

  void axis() {
    const Interval range{drawing_.window.start_s, drawing_.window.end_s};
    const double bottom = first_bottom();
    const std::string unit = unit_of(range, Scale::kLinear, Quantity::kSeconds);
    for (const Tick& tick : ticks(range, Scale::kLinear, 8, Quantity::kSeconds)) {
      const double x = x_.pixel(tick.value);
      canvas_.polyline(std::vector<Pixel>{{x, rows_top_ + kTimeAxis - 8}, {x, bottom}},
                       {kGridRole, 1});
      canvas_.text({x, rows_top_ + kTimeAxis - 12}, tick.label + " " + unit,
                   {kMutedRole, kTimelineSmall, false, Align::kMiddle});
    }
  }

  double first_bottom() const {
    return rows_top_ + kTimeAxis + (drawing_.with_mean ? kMeanRow : 0) +
           kHostRow * static_cast<double>(drawing_.rows.size()) - 6;
  }

  void piece(const BusyTime& time, const LanePart& kind, double y) {
    const double from = x_.pixel(time.start_s);
    const double width = std::max(0.5, x_.pixel(time.end_s) - from);
    canvas_.rectangle({from, y + kind.top, width, kind.height}, kind.color, 1);
  }

  void row(const WorkerTimes& host, double y) {
    canvas_.text({0, y + kWorkHeight}, host_name(host.worker, drawing_.workers),
                 {kInkRole, kTimelineFont});
    for (const LanePart& kind : kLaneParts)
      for (const BusyTime& time : host.*kind.times) piece(time, kind, y);
  }

  /// "64 workers", "20 of 100": those that have a part in the step.
  std::string counted_text() const {
    const auto counted = std::ranges::count_if(drawing_.window.hosts, [&](const WorkerTimes& host) {
      return host.worker < drawing_.workers;
    });
    const std::string all = std::to_string(drawing_.workers);
    return counted == drawing_.workers ? all + " workers" : std::to_string(counted) + " of " + all;
  }

  /// Shares upon one another, of all workers that have a part.
  void mean(double y) {
    canvas_.text({0, y + kWorkHeight}, "mean of all", {kInkRole, kTimelineFont});
    canvas_.text({0, y + kWorkHeight + 14}, counted_text(), {kMutedRole, kTimelineSmall});
    const double height = kMeanRow - 12, bottom = y + height;
    const auto bin_x = [&](std::size_t bin) {
      return x_.first_pixel() +
             (x_.last_pixel() - x_.first_pixel()) * static_cast<double>(bin) / kMeanBins;
    };
    std::vector<double> below(kMeanBins, 0.0);
    for (const LanePart& kind : std::span(kLaneParts).first(kMeanKinds)) {
      const std::vector<double> shares =
          mean_shares(drawing_.window, drawing_.workers, kind.times, kMeanBins);
      std::vector<Pixel> upper, lower;
      for (std::size_t bin = 0; bin < kMeanBins; ++bin) {
        const double low = bottom - height * below[bin];
        below[bin] += shares[bin];
        const double high = bottom - height * below[bin];
        upper.insert(upper.end(), {{bin_x(bin), high}, {bin_x(bin + 1), high}});
        lower.insert(lower.end(), {{bin_x(bin), low}, {bin_x(bin + 1), low}});
      }
      upper.insert(upper.end(), lower.rbegin(), lower.rend());
      // Waiting is paler: the same colour is transfers' in the rows below.
      canvas_.polygon(upper, kind.color, kind.times == &WorkerTimes::exposed ? 0.5 : 1);
    }
    canvas_.polyline(std::vector<Pixel>{{kTimelineGutter, bottom}, {x_.last_pixel(), bottom}},
                     {kMutedRole, 1});
  }

  void path() {
    std::optional<Pixel> last;
    for (const TimelineSegment& each : drawing_.window.path) {
      const auto row = std::ranges::find(drawing_.rows, each.worker, &WorkerTimes::worker);
      // Of what is drawn for no single worker, the path goes on where it was.
      const double index = static_cast<double>(row - drawing_.rows.begin());
      if (row == drawing_.rows.end() && !last) continue;
      const double y = row == drawing_.rows.end()
                           ? last->y
                           : first_row_ + kHostRow * index + kWorkHeight + kPathHeight / 2;
      const double from = x_.pixel(each.start_s), to = x_.pixel(each.end_s);
      if (last)
        canvas_.polyline(std::vector<Pixel>{*last, {from, y}}, {kInkRole, 1, Dash::kSolid, 0.7});
      canvas_.rectangle({from, y - 1.5, std::max(0.5, to - from), 3}, kInkRole, 1);
      last = Pixel{to, y};
    }
  }

  const TimelineDrawing& drawing_;
  Canvas& canvas_;
  AxisMap x_;
  double rows_top_ = 0, first_row_ = 0;
};

}  // namespace

TimelineDrawing drawing_of(StepWindow window, int workers, std::size_t most_rows,
                           std::size_t most_pieces, double width) {
  TimelineDrawing drawing;
  drawing.rows = chosen_hosts(window, workers, most_rows);
  drawing.with_mean = drawing.rows.size() < window.hosts.size();
  const double pixel_s = window.length_s() / (width - kTimelineGutter - kTimelineRight);
  const auto close_pauses = [&](double pause_s) {
    drawing.pause_s = pause_s;
    for (WorkerTimes& host : drawing.rows)
      for (const LanePart& kind : kLaneParts) host.*kind.times = joined(host.*kind.times, pause_s);
  };
  close_pauses(pixel_s / 2);
  while (pieces_of(drawing.rows) > most_pieces && drawing.pause_s < window.length_s())
    close_pauses(2 * drawing.pause_s);
  drawing.workers = workers;
  drawing.window = std::move(window);
  return drawing;
}

double height_of(const TimelineDrawing& drawing) {
  return kHeadingLine * (1.5 + static_cast<double>(drawing.heading.size())) + kTimeAxis +
         (drawing.with_mean ? kMeanRow : 0) + kHostRow * static_cast<double>(drawing.rows.size()) +
         4;
}

void paint(const TimelineDrawing& drawing, double width, Canvas& canvas) {
  TimelinePainter(drawing, width, canvas).paint();
}

}  // namespace gradwire::results
