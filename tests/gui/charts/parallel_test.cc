#include "gui/charts/parallel_view.h"

#include <QTest>
#include <catch2/catch.hpp>

#include "gui/models/run_filter.h"
#include "gui/samples/sample_runs.h"

using namespace gradwire::gui;
using namespace gradwire::results;

namespace {

const ParallelAxis* axis_of(const std::vector<ParallelAxis>& axes, const char* title) {
  for (const ParallelAxis& axis : axes) {
    if (axis.title == title) return &axis;
  }
  return nullptr;
}

int index_of(const std::vector<ParallelAxis>& axes, const char* title) {
  return static_cast<int>(axis_of(axes, title) - axes.data());
}

}  // namespace

TEST_CASE("axes are the columns that vary, what was chosen first", "[unit]") {
  RunView view;
  view.set_runs(make_run_set(samples::sample_runs(144)));
  const auto axes = varying_axes(view);
  REQUIRE(axes.size() > 5);
  CHECK(axes.size() <= kMostAxes);
  CHECK(axes[0].title == "Method");
  CHECK(axes[1].title == "Workers");
  CHECK(axes[2].title == "Bandwidth");
  // One model, one data set: no axes.
  CHECK_FALSE(axis_of(axes, "Model"));
  const ParallelAxis& rate = axes[2];
  CHECK(rate.logarithmic);
  CHECK(rate.place(view.columns(), view.all()[0]) == Approx(0));     // 100 Mbps
  CHECK(rate.place(view.columns(), view.all()[24]) == Approx(0.5));  // 1 Gbps
  CHECK(rate.value_at(0) == 1e8);
  CHECK(rate.value_at(1) == 1e10);
  CHECK(axes[0].place(view.columns(), view.all()[0]) == Approx(0.5 / 6));  // "none" of six
}

TEST_CASE("brushes are a filter that the table understands", "[unit]") {
  RunView view;
  view.set_runs(make_run_set(samples::sample_runs(144)));
  const auto axes = varying_axes(view);
  CHECK(filter_of(axes, {}).isEmpty());
  const auto rows = [&](const QString& text) {
    const RunFilter filter = parse_run_filter(text, view.columns());
    INFO(text.toStdString() << " " << filter.error.toStdString());
    REQUIRE(filter.error.isEmpty());
    view.set_predicate(filter.predicate);
    return view.rows();
  };
  const Column rate = axes[2].column;
  CHECK(rows(filter_of(axes, {{rate, {0, 0.6}}})) == 96);
  CHECK(rows(filter_of(axes, {{rate, {0, 1}}})) == 144);
  CHECK(rows(filter_of(axes, {{rate, {0, 0.6}}, {Column::kMethod, {0, 1.0 / 6}}})) == 16);
  CHECK(rows(words_as_filter("TOPK flow")) > 0);
  view.set_text_filter("TOPK flow");
  const int words = view.rows();
  CHECK(rows(words_as_filter("TOPK flow")) == words);
}

TEST_CASE("dragging along an axis filters the table, and what was typed stays", "[gui]") {
  RunSelection selection;
  RunTable table(&selection);
  table.set_runs(make_run_set(samples::sample_runs(144)));
  ParallelView view(&table, &selection);
  view.resize(900, 400);
  view.show();
  REQUIRE(QTest::qWaitForWindowExposed(&view));
  const auto rate = static_cast<std::size_t>(index_of(view.axes(), "Bandwidth"));
  const int x = int(view.axis_x(rate));
  const auto drag = [&](double from, double to) {
    QTest::mousePress(&view, Qt::LeftButton, {}, QPoint(x, int(view.axis_y(from))));
    QTest::mouseMove(&view, QPoint(x + 3, int(view.axis_y(to))));
    QTest::mouseRelease(&view, Qt::LeftButton, {}, QPoint(x + 3, int(view.axis_y(to))));
    QTest::qWait(10);
  };
  table.filter_field()->setText("workers>=16");
  table.apply_filter();
  CHECK(table.view().rows() == 72);
  drag(-0.05, 0.7);
  CHECK(table.view().rows() == 48);
  CHECK(table.filter_field()->text().startsWith("workers>=16 and Bandwidth>="));
  CHECK(view.brushes().size() == 1);
  // The axes stay, though the shown runs are fewer.
  CHECK(index_of(view.axes(), "Bandwidth") == int(rate));
  // Another drag replaces the mark; a click takes it away.
  drag(0.3, 1.05);
  CHECK(table.view().rows() == 48);
  drag(0.4, 0.4);
  CHECK(view.brushes().empty());
  CHECK(table.filter_field()->text() == "workers>=16");
  CHECK(table.view().rows() == 72);
  // By keys: the lower mark of the axis up.
  for (int i = 0; i < 2; ++i) QTest::keyClick(&view, Qt::Key_Up);
  CHECK(view.brushes().size() == 1);
  CHECK(table.view().rows() < 72);
  QTest::keyClick(&view, Qt::Key_Delete);
  CHECK(table.view().rows() == 72);
  // Ten thousand runs paint at once.
  table.filter_field()->clear();
  table.apply_filter();
  table.set_runs(make_run_set(samples::sample_runs(10000)));
  QTest::qWait(20);
  CHECK_FALSE(view.grab().isNull());
}

TEST_CASE("lines of thousands of runs come over several events, and the axes above all", "[gui]") {
  RunSelection selection;
  RunTable table(&selection);
  table.set_runs(make_run_set(samples::sample_runs(2000)));
  ParallelView view(&table, &selection);
  view.resize(900, 400);
  view.show();
  REQUIRE(QTest::qWaitForWindowExposed(&view));
  REQUIRE(view.axes().size() > 2);
  const auto ink = [&](int rows) {
    const QImage image = view.grab().toImage();
    int count = 0;
    for (int y = 0; y < std::min(rows, image.height()); ++y)
      for (int x = 0; x < image.width(); ++x) count += image.pixelColor(x, y).lightness() < 60;
    return count;
  };
  const auto inked = [&] { return ink(400); };
  const auto settle = [&] {
    return QTest::qWaitFor(
        [&] {
          const QImage before = view.grab().toImage();
          QTest::qWait(200);
          return view.grab().toImage() == before;
        },
        20000);
  };
  const QImage first = view.grab().toImage();
  const int titles = ink(30);  // of the axes, above all lines
  REQUIRE(settle());
  CHECK(view.grab().toImage() != first);
  CHECK(titles == 0);
  CHECK(ink(30) > 200);

  // Chosen lines stand above the others, all of them or one.
  const int axes = inked();
  selection.select({table.view().at(0).id});
  REQUIRE(settle());
  CHECK(inked() > axes + 300);
  std::vector<RunId> all;
  for (int row = 0; row < table.view().rows(); ++row) all.push_back(table.view().at(row).id);
  const int one = inked();
  selection.select(all);
  REQUIRE(settle());
  CHECK(inked() > 3 * one);
}
