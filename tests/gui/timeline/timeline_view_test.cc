#include "gui/timeline/timeline_view.h"

#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>
#include <set>

#include "gui/main_window.h"
#include "gui/samples/sample_runs.h"
#include "gui/timeline/timeline_page.h"

using namespace gradwire::gui;
using gradwire::results::LinkSeries;
using gradwire::results::RunId;

namespace {

/// A made-up run of 4 workers with two links.
TimelinePtr sample(int index) {
  const auto run = samples::sample_run(index);
  RunTimeline read;
  read.run = run.id;
  read.workers = run.header.workers;
  read.title = QString("run %1").arg(run.id);
  read.segments = samples::sample_timeline(run, 12);
  read.links = {LinkSeries{0, "worker0 -> switch", 1e9, {{0, 0.1, 1000000}, {0.1, 0.2, 500000}}},
                LinkSeries{1, "switch -> worker1", 1e9, {{0, 0.2, 400000}}}};
  return make_timeline(std::move(read));
}

struct Page {
  Page() {
    page.resize(1200, 700);
    page.show();
    view = page.timeline();
    view->set_timelines(sample(1));
    view->setFocus();
    REQUIRE(QTest::qWaitForWindowActive(&page));
  }
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
    QTest::keyClick(view, key, modifiers);
  }
  const TimelinePtr& run() const { return view->tracks()[0]; }
  TimelinePage page;
  TimelineView* view = nullptr;
};

}  // namespace

TEST_CASE("what is found is lit, counted, and gone through with keys", "[gui]") {
  Page fixture;
  fixture.page.find_field()->setText("encode worker 2");
  // Two encodings a step, twelve steps.
  CHECK(fixture.view->found().size() == 24);
  CHECK(fixture.page.found_text() == "24 found");
  fixture.press(Qt::Key_N);
  REQUIRE(fixture.view->chosen());
  const SegmentRef first = *fixture.view->chosen();
  CHECK(first == fixture.view->found()[0]);
  fixture.press(Qt::Key_N);
  CHECK(*fixture.view->chosen() == fixture.view->found()[1]);
  fixture.press(Qt::Key_N, Qt::ShiftModifier);
  CHECK(*fixture.view->chosen() == first);
  // Before the first comes the last.
  fixture.press(Qt::Key_N, Qt::ShiftModifier);
  CHECK(*fixture.view->chosen() == fixture.view->found().back());
  CHECK(fixture.page.chosen_text().contains("worker 2"));
  // The next run is searched as well.
  fixture.view->set_timelines(sample(2));
  CHECK(fixture.view->found().size() == 24);
  // A link is found by its name.
  fixture.page.find_field()->setText("switch -> worker1");
  CHECK(fixture.page.found_text() == "1 links found");
  fixture.press(Qt::Key_N);
  CHECK(fixture.page.chosen_text().contains("% busy"));
  fixture.page.find_field()->setText("nothing like it");
  CHECK(fixture.page.found_text() == "not found");
  fixture.page.find_field()->clear();
  CHECK(fixture.view->found().empty());
}

TEST_CASE("the path of a wait is shown, follows the choice, and goes again", "[gui]") {
  Page fixture;
  fixture.page.find_field()->setText("wait worker 0");
  fixture.press(Qt::Key_N);
  fixture.press(Qt::Key_N);
  fixture.press(Qt::Key_C);
  REQUIRE_FALSE(fixture.view->chain().segments.empty());
  CHECK(fixture.page.chosen_text().startsWith("Critical path to"));
  const std::size_t length = fixture.view->chain().segments.size();
  const QImage with_path = fixture.view->grab().toImage();
  for (int i = 0; i < 6; ++i) fixture.press(Qt::Key_N);
  CHECK(fixture.view->chain().segments.size() > length);
  fixture.press(Qt::Key_C);
  CHECK(fixture.view->chain().segments.empty());
  CHECK(fixture.view->grab().toImage() != with_path);
  // With nothing chosen, to the run's end.
  fixture.press(Qt::Key_Escape);
  CHECK_FALSE(fixture.view->chosen());
  fixture.press(Qt::Key_C);
  const auto& segments = fixture.run()->segments;
  double last = 0;
  for (std::size_t i = 0; i < fixture.run()->stored; ++i) last = std::max(last, segments[i].end_s);
  CHECK(segments[fixture.view->chain().segments.back()].end_s == last);
}

TEST_CASE("a marked range has its statistics, by mouse and by keys", "[gui]") {
  Page fixture;
  fixture.view->mark_area(0, fixture.run()->rows.end_s);
  REQUIRE(QTest::qWaitFor([&] { return !fixture.page.statistics().rows.empty(); }, 3000));
  const DataTable all = fixture.page.statistics();
  CHECK(all.title.contains("exposed"));
  // 12 steps of 4 workers have 48 forward passes.
  REQUIRE(all.rows[0][1] == "forward");
  CHECK(all.rows[0][2] == "48");
  // The chosen segment's edges.
  fixture.view->mark_area(0, 0);
  CHECK_FALSE(fixture.view->area());
  fixture.press(Qt::Key_Period);
  fixture.press(Qt::Key_BracketLeft);
  fixture.press(Qt::Key_BracketRight);
  REQUIRE(fixture.view->area());
  const auto& chosen = fixture.run()->segments[fixture.view->chosen()->segment];
  CHECK(fixture.view->area()->from_s == chosen.start_s);
  CHECK(fixture.view->area()->to_s == chosen.end_s);
  // Shift and drag over the plotted rows.
  const int y = fixture.view->row_middle(2), x = fixture.view->gutter_width();
  QWidget* viewport = fixture.view->viewport();
  QTest::mousePress(viewport, Qt::LeftButton, Qt::ShiftModifier, QPoint(x + 100, y));
  QTest::mouseMove(viewport, QPoint(x + 500, y));
  QTest::mouseRelease(viewport, Qt::LeftButton, Qt::ShiftModifier, QPoint(x + 500, y));
  REQUIRE(fixture.view->area());
  const double pixel = fixture.view->window().length_s / fixture.view->window().width;
  CHECK(fixture.view->area()->to_s - fixture.view->area()->from_s ==
        Approx(400 * pixel).margin(12 * pixel));
}

TEST_CASE("rows are pinned by key and by a click on their name, links too", "[gui]") {
  Page fixture;
  fixture.press(Qt::Key_Period);
  fixture.press(Qt::Key_Down);
  fixture.press(Qt::Key_P);
  REQUIRE(fixture.view->order().fixed() == 1);
  CHECK(fixture.view->order().pins() == QStringList("worker 0 codec"));
  // It stays where it is while the others scroll.
  fixture.page.resize(1200, 240);
  QTest::qWait(20);
  const int middle = fixture.view->row_middle(fixture.view->order().rows()[0].row);
  QTest::keyClick(fixture.view, Qt::Key_PageDown);
  CHECK(fixture.view->row_middle(fixture.view->order().rows()[0].row) == middle);
  fixture.page.resize(1200, 700);
  // The last row is a link.
  for (int i = 0; i < 40; ++i) fixture.press(Qt::Key_Down);
  CHECK(fixture.page.chosen_text().startsWith("switch -> worker1"));
  fixture.press(Qt::Key_P);
  CHECK(fixture.view->order().fixed() == 2);
  fixture.press(Qt::Key_P);
  CHECK(fixture.view->order().fixed() == 1);
  QTest::mouseClick(fixture.view->viewport(), Qt::LeftButton, {},
                    QPoint(20, fixture.view->row_middle(0)));
  CHECK(fixture.view->order().fixed() == 2);
}

TEST_CASE("a wait is hatched, and drawn in both themes", "[gui]") {
  Page fixture;
  const auto& segments = fixture.run()->segments;
  std::uint32_t wait = 0;
  for (std::uint32_t i = 0; i < segments.size(); ++i) {
    if (segments[i].lane != kWaitLane) continue;
    if (wait == 0 ||
        segments[i].end_s - segments[i].start_s > segments[wait].end_s - segments[wait].start_s) {
      wait = i;
    }
  }
  REQUIRE(segments[wait].lane == kWaitLane);
  fixture.view->show_range(segments[wait].start_s, segments[wait].end_s);
  QTest::qWait(20);
  const QImage image = fixture.view->viewport()->grab().toImage();
  const int y = fixture.view->row_middle(row_of(*fixture.run(), wait)) + 4;
  std::set<QRgb> colours;
  for (int x = image.width() / 2; x < image.width() / 2 + 40; ++x) {
    colours.insert(image.pixel(x, y));
  }
  CHECK(colours.size() > 1);  // lines on the background, no plain box
}

TEST_CASE("phases of one row differ in grey as well, in both themes", "[unit]") {
  for (const ColourScheme scheme : {ColourScheme::kLight, ColourScheme::kDark}) {
    const Theme theme = theme_of(palette_of(scheme));
    for (const auto& row : {std::array{Phase::kForward, Phase::kBackward, Phase::kUpdate},
                            std::array{Phase::kEncode, Phase::kDecode, Phase::kAggregate}}) {
      for (const Phase a : row) {
        CHECK(contrast(phase_colour(theme, a), theme.background) >= 3);
        for (const Phase b : row) {
          INFO(name_of(a) << " " << name_of(b));
          // A ratio of luminances: what is left of a colour in grey.
          if (a != b) CHECK(contrast(phase_colour(theme, a), phase_colour(theme, b)) >= 1.25);
        }
      }
    }
  }
}

TEST_CASE("two selected runs stand one above the other over one axis", "[gui]") {
  MainWindow window({"memory.db", {}, false},
                    [](const std::string&) { return samples::make_fake_store(60); });
  QSignalSpy shown(&window, &MainWindow::runs_shown);
  window.resize(1280, 800);
  window.show();
  REQUIRE(shown.wait(5000));
  window.charts()->setCurrentWidget(window.timeline_page());
  window.selection()->select({2, 8}, 2);
  TimelineView* view = window.timeline();
  REQUIRE(QTest::qWaitFor([&] { return view->tracks()[1] != nullptr; }, 3000));
  CHECK(view->tracks()[0]->run == 2);
  CHECK(view->tracks()[1]->run == 8);
  CHECK(view->tracks()[0]->title.startsWith("run 2 · "));
  CHECK(view->overlap_text().contains("Run 8 · Step"));
  // The table has the segments of both.
  std::set<QString> runs;
  view->reset_zoom();
  for (const QStringList& row : view->table().rows) runs.insert(row[0]);
  CHECK(runs == std::set<QString>{"2", "8"});
  // Steps take longer in one: aligned, the step in the middle begins at once in both.
  view->setFocus();
  CHECK(view->shift_s() == 0);
  view->fit_step();
  QTest::keyClick(view, Qt::Key_T);
  CHECK(view->shift_s() != 0);
  QTest::keyClick(view, Qt::Key_T);
  CHECK(view->shift_s() == 0);
  // One run alone; with a baseline, that one is below.
  window.selection()->select({2});
  REQUIRE(QTest::qWaitFor([&] { return view->tracks()[1] == nullptr; }, 3000));
  window.selection()->select({5});
  window.table()->toggle_baseline();
  window.selection()->select({2});
  REQUIRE(QTest::qWaitFor([&] { return view->tracks()[1] && view->tracks()[1]->run == 5; }, 3000));
  // And not where it is switched off.
  QTest::keyClick(&window, Qt::Key_2, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(QTest::qWaitFor([&] { return view->tracks()[1] == nullptr; }, 3000));
}
