#include "bench/gui/figures.h"
#include "bench/rows/timing.h"
#include "gui/timeline/timeline_page.h"
#include "results/store/store.h"

namespace gradwire::bench {

namespace {

constexpr int kWorkers = 32, kSteps = 2500, kSegmentsAStep = 8;
constexpr int kPictures = 60;

/// 640,000 segments: 32 workers, eight operations a step.
gui::TimelinePtr large_timeline() {
  static constexpr const char* kLabels[] = {"forward",       "backward b1",   "backward b0",
                                            "encode b1",     "all-reduce b1", "encode b0",
                                            "all-reduce b0", "update"};
  static constexpr std::uint8_t kLanes[] = {1, 1, 1, 2, 255, 2, 255, 1};
  gui::RunTimeline read;
  read.run = 1;
  read.workers = kWorkers;
  read.segments.reserve(std::size_t(kWorkers) * kSteps * kSegmentsAStep);
  for (int step = 0; step < kSteps; ++step) {
    for (int worker = 0; worker < kWorkers; ++worker) {
      for (int i = 0; i < kSegmentsAStep; ++i) {
        const double start = step * 10e-3 + i * 1.2e-3 + (worker * 7 + step * 3) % 11 * 1e-5;
        read.segments.push_back({step, worker, kLanes[i], kLabels[i], start,
                                 start + 1e-3 + (worker + i + step) % 5 * 1e-4,
                                 kLanes[i] == 255 ? 100000 : 0});
      }
    }
  }
  return gui::make_timeline(std::move(read));
}

/// Pictures a second of a full window while it moves; the worst of what can be shown.
double pictures_a_second(gui::TimelineView& view, const std::function<void(int)>& move) {
  std::vector<double> seconds;
  for (int i = 0; i < kPictures; ++i) {
    seconds.push_back(milliseconds_of([&] {
                        move(i);
                        view.viewport()->repaint();
                      }) /
                      1e3);
  }
  return 1 / median(std::move(seconds));
}

}  // namespace

std::vector<GuiFigure> timeline_figures() {
  gui::TimelinePage page;
  page.resize(1400, 1000);
  page.show();
  gui::TimelineView& view = *page.timeline();
  view.set_timelines(large_timeline());
  QApplication::processEvents();
  const double last = view.rows().end_s;
  std::vector<GuiFigure> figures;
  double slowest = 1e9;
  // The whole run, a tenth and a hundredth of it: from all merged to nothing merged.
  for (const double share : {1.0, 0.1, 0.01}) {
    slowest = std::min(slowest, pictures_a_second(view, [&](int i) {
                         const double from = (1 - share) * last * i / kPictures;
                         view.show_range(from, from + share * last);
                       }));
  }
  figures.push_back({"gui.segments640000.pan", slowest});
  view.reset_zoom();
  figures.push_back({"gui.segments640000.zoom", pictures_a_second(view, [&](int i) {
                       i % 2 == 0 || i < kPictures / 2 ? view.zoom_in() : view.zoom_out();
                     })});
  return figures;
}

}  // namespace gradwire::bench
