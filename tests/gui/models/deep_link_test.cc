#include "gui/models/deep_link.h"

#include <QDesktopServices>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "gui/main_window.h"
#include "gui/samples/sample_runs.h"
#include "results/runs/place.h"

using namespace gradwire::gui;
using Catch::Contains;

TEST_CASE("a link names a run and a range of its time, and is read again as it was written",
          "[unit]") {
  const DeepLink link = parse_deep_link("run:42@1.20s..1.31s");
  CHECK(link.run == 42);
  REQUIRE(link.range);
  CHECK(link.range->from_s == 1.2);
  CHECK(link.range->to_s == 1.31);
  CHECK(parse_deep_link(text_of(link)) == link);
  CHECK(parse_deep_link("run:7") == DeepLink{7, {}});
  CHECK(text_of({7, {}}) == "run:7");
  // The text that reports write, to the nanosecond: a range late in a long run keeps its length.
  CHECK(text_of({42, DeepLink::Range{1.2, 1.31}}) == "run:42@1.2s..1.31s");
  const DeepLink late{7, DeepLink::Range{86400.000001, 86400.000002}};
  CHECK(parse_deep_link(text_of(late)).range->to_s - 86400 == Approx(2e-6).epsilon(1e-3));
  CHECK(text_of(late).toStdString() == gradwire::results::place_of(7, 86400.000001, 86400.000002));
  CHECK(parse_deep_link("run:7@800us..1ms").range->to_s == Approx(1e-3));
  CHECK(is_deep_link("run:x"));
  CHECK_FALSE(is_deep_link("runs.db"));
  for (const auto& [text, why] : {std::pair("run:", "number from 1"),
                                  {"run:-3", "number from 1"},
                                  {"run:3@1s", "FROM..TO"},
                                  {"run:3@2s..1s", "before"},
                                  {"run:3@1..2", "unit"},
                                  {"run:3@x..2s", "time"}}) {
    INFO(text);
    CHECK_THROWS_WITH(parse_deep_link(text), Contains(why));
  }
}

namespace {

/// Takes the place of the browser.
class Browser : public QObject {
  Q_OBJECT

 public:
  Browser() { QDesktopServices::setUrlHandler("file", this, "open"); }
  ~Browser() override { QDesktopServices::unsetUrlHandler("file"); }
  QList<QUrl> opened;
 public slots:
  void open(const QUrl& url) { opened << url; }
};

}  // namespace

TEST_CASE("a link given at the start shows the run there; the copied one leads back", "[gui]") {
  WindowOptions options{"memory.db", {}, false, "run:5@10ms..30ms"};
  MainWindow window(options, [](const std::string&) { return samples::make_fake_store(30); });
  window.resize(1200, 760);
  window.show();
  REQUIRE(QTest::qWaitFor([&] { return !window.timeline()->rows().rows.empty(); }, 5000));
  CHECK(window.selection()->current() == 5);
  CHECK(window.charts()->currentWidget() == window.timeline_page());
  CHECK(window.timeline()->window().start_s == Approx(0.010));
  CHECK(window.timeline()->window().end_s() == Approx(0.030));
  const DeepLink here = parse_deep_link(window.link_here());
  CHECK(here.run == 5);
  CHECK(here.range->to_s == Approx(0.030));
  window.open_link("run:6");
  CHECK(window.selection()->current() == 6);
  window.open_link("run:9999");
  CHECK(window.error_text().contains("no run 9999"));
}

TEST_CASE("the report of the shown runs is written beside the window and opened", "[gui]") {
  Browser browser;
  QTemporaryDir folder;
  const QString path = folder.filePath("runs.db");
  samples::write_sample_database(path.toStdString(), 24);
  MainWindow window({path, {}, false}, [](const std::string& file) {
    return gradwire::results::Store::open(file, gradwire::results::Store::Mode::kReadOnly);
  });
  window.show();
  REQUIRE(QTest::qWaitFor([&] { return window.table()->view().total() == 24; }, 5000));
  window.table()->filter_field()->setText("method=terngrad");
  window.table()->apply_filter();
  QSignalSpy written(&window, &MainWindow::report_written);
  const QString page = folder.filePath("report.html");
  window.write_report(page);
  REQUIRE(written.wait(20000));
  const std::string html = gradwire::read_file(page.toStdString());
  CHECK_THAT(html, Contains("terngrad"));
  CHECK_THAT(html, !Contains("powersgd"));
  REQUIRE(browser.opened.size() == 1);
  CHECK(browser.opened[0].toLocalFile() == page);
  // Nothing that ended: an error in the window.
  window.table()->filter_field()->setText("method=none and method=terngrad");
  window.table()->apply_filter();
  window.write_report(page);
  CHECK(QTest::qWaitFor([&] { return !window.error_text().isEmpty(); }, 5000));
}

#include "deep_link_test.moc"
