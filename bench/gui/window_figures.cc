#include <QElapsedTimer>
#include <QHeaderView>
#include <QMouseEvent>
#include <memory>

#include "bench/gui/figures.h"
#include "gui/main_window.h"
#include "gui/samples/sample_runs.h"

namespace gradwire::bench {

namespace {

using gui::Column;
using results::RunId;

constexpr int kTries = 3;
constexpr int kTabMs = 6000;

/// The real window over so many made-up runs, loaded.
std::unique_ptr<gui::MainWindow> make_window(int runs) {
  auto window = std::make_unique<gui::MainWindow>(
      gui::WindowOptions{"memory.db", {}, false},
      [runs](const std::string&) { return gui::samples::make_fake_store(runs); });
  window->resize(1360, 860);
  window->show();
  return window;
}

bool loaded(gui::MainWindow& window, int runs) {
  return window.table()->view().total() == runs;
}

void settle() {
  for (int i = 0; i < 20; ++i) QApplication::processEvents(QEventLoop::AllEvents, 20);
}

/// The best of some tries: what a busy machine adds is not the program's.
double best_of(const std::function<void(int)>& work) {
  double best = 1e9;
  for (int i = 0; i < kTries; ++i) best = std::min(best, milliseconds_of([&] { work(i); }));
  return best;
}

void sort_by(gui::MainWindow& window, Column column, int i) {
  window.table()->table()->sortByColumn(static_cast<int>(column),
                                        i % 2 ? Qt::AscendingOrder : Qt::DescendingOrder);
}

constexpr const char* kFilters[] = {"bandwidth>=1Gbps and workers>=16",
                                    "step_time_s<1s and method=terngrad", "edge packet"};

void filter_by(gui::MainWindow& window, int i) {
  window.table()->filter_field()->setText(kFilters[i % 3]);
  window.table()->apply_filter();
}

bool ringed(gui::MainWindow& window) {
  const auto& series = window.tradeoff()->chart()->figure().series;
  return std::ranges::any_of(series, [](const auto& each) { return each.name == "selected"; });
}

double hover(gui::MainWindow& window) {
  gui::FigureView* chart = window.tradeoff()->chart();
  chart->repaint();
  const auto place = window.tradeoff()->position_of(5000);
  if (!place) return 1e9;
  return best_of([&](int i) {
    const QPointF at = *place + QPointF(i % 2, 0);
    QMouseEvent move(QEvent::MouseMove, at, chart->mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
    QApplication::sendEvent(chart, &move);
    chart->repaint();
  });
}

void measure_ten_thousand(std::vector<GuiFigure>& figures) {
  constexpr int kRuns = 10000;
  const auto window = make_window(kRuns);
  while (!loaded(*window, kRuns)) QApplication::processEvents(QEventLoop::WaitForMoreEvents, 20);
  settle();
  figures.push_back({"gui.points10000.hover", hover(*window)});
  figures.push_back({"gui.runs10000.sort", best_of([&](int i) {
                       sort_by(*window, i == 0 ? Column::kName : Column::kStepTime, i);
                       window->table()->table()->viewport()->repaint();
                     })});
  figures.push_back({"gui.runs10000.filter", best_of([&](int i) {
                       filter_by(*window, i);
                       window->table()->table()->viewport()->repaint();
                     })});
  window->table()->filter_field()->clear();
  window->table()->apply_filter();
  settle();
  figures.push_back({"gui.runs10000.select", best_of([&](int i) {
                       window->selection()->select({RunId(1000 + 6 * i)});
                       do {
                         QApplication::processEvents();
                       } while (!ringed(*window));
                     })});
}

void measure_hundred_thousand(WatchedApplication& application, std::vector<GuiFigure>& figures) {
  constexpr int kRuns = 100000;
  std::unique_ptr<gui::MainWindow> window;
  const auto add = [&](const char* what, double value) {
    figures.push_back({std::string("gui.runs100000.") + what + ".longest_freeze", value});
  };
  window = make_window(kRuns);
  add("open", application.longest_while([] {}, [&] { return loaded(*window, kRuns); }));
  const auto worst_of = [&](const std::function<void(int)>& work) {
    double worst = 0;
    for (int i = 0; i < kTries; ++i) {
      worst = std::max(worst, application.longest_while([&] { work(i); }, [] { return true; }));
    }
    return worst;
  };
  add("filter", worst_of([&](int i) { filter_by(*window, i); }));
  window->table()->filter_field()->clear();
  window->table()->apply_filter();
  settle();
  add("sort",
      worst_of([&](int i) { sort_by(*window, i == 0 ? Column::kName : Column::kStepTime, i); }));
  add("select", worst_of([&](int i) {
        if (i == kTries - 1) return window->table()->table()->selectAll();
        window->selection()->select({RunId(5000 + 6 * i)});
      }));
  window->selection()->clear();
  const std::pair<const char*, QWidget*> tabs[] = {{"seeds", window->groups()},
                                                   {"scaling", window->scaling()},
                                                   {"parallel", window->parallel()}};
  for (const auto& [name, tab] : tabs) {
    QElapsedTimer since;
    since.start();
    // What a tab has worked out on another thread comes later: for so long it is watched.
    add(name, application.longest_while([&] { window->charts()->setCurrentWidget(tab); },
                                        [&] { return since.elapsed() > kTabMs; }));
  }
  window->charts()->setCurrentWidget(window->tradeoff());
  settle();
  int refreshed = 0;
  QObject::connect(window.get(), &gui::MainWindow::runs_shown, [&] { ++refreshed; });
  add("refresh", application.longest_while([&] { window->open_database("other.db"); },
                                           [&] { return refreshed > 0; }));
}

}  // namespace

std::vector<GuiFigure> window_figures(WatchedApplication& application) {
  std::vector<GuiFigure> figures;
  measure_ten_thousand(figures);
  measure_hundred_thousand(application, figures);
  return figures;
}

}  // namespace gradwire::bench
