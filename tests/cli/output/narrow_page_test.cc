#include <catch2/catch.hpp>
#include <cmath>
#include <regex>

#include "base/file_descriptor.h"
#include "tests/browser.h"
#include "tests/cli/program.h"

// A report as a telephone shows it. Browsers' own windows are at least some 500 pixels wide, so the
// page lies in a frame of 420, and a script beside it (not in it) measures.

using namespace gradwire;
using namespace gradwire::testing;

namespace {

/// Least size of a letter in pixels, as it is drawn; texts that stick out of the page and cannot be
/// scrolled to; the page's width; how far below the top of the screen the place lies that the
/// address leads to.
constexpr const char* kMeasure = R"(<!doctype html><body style="margin:0">
<iframe id="page" src="report.html" style="width:420px;height:900px;border:0"></iframe><script>
const frame = document.getElementById('page');
frame.onload = () => {
  const d = frame.contentDocument, w = d.defaultView;
  let least = 1e9, cut = 0;
  for (const e of d.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType == 3 && n.textContent.trim());
    if (!own || !e.getClientRects().length || e.closest('style,title,desc')) continue;
    let size = parseFloat(w.getComputedStyle(e).fontSize);
    const svg = e.closest('svg');
    if (svg) size *= svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    least = Math.min(least, size);
    let s = e;
    while (s != d.body && !/auto|scroll/.test(w.getComputedStyle(s).overflowX)) s = s.parentElement;
    if (s == d.body && e.getBoundingClientRect().right > 420.5) ++cut;
  }
  const target = d.querySelector(':target');
  const top = target ? target.getBoundingClientRect().top : 1e9;
  document.body.innerHTML = '<p>width=' + d.documentElement.scrollWidth + ' cut=' + cut +
                            ' least=' + least + ' top=' + top + '</p>';
};
</script>)";

struct Measured {
  double width = 0, cut = 0, least = 0, top = 0;
};

/// `place`: an anchor of the page, or none.
Measured measure(const TemporaryFolder& folder, const std::string& place = "") {
  std::string measuring = kMeasure;
  const std::string page = "report.html";
  measuring.insert(measuring.find(page) + page.size(), "#" + place);
  write_file(folder.file("measure.html"), measuring);
  const std::string out = folder.file("out.html");
  REQUIRE(open_in_browser(folder.file("measure.html"), folder.file("profile"),
                          {"--allow-file-access-from-files", "--window-size=600,1000",
                           "--virtual-time-budget=5000", "--dump-dom"},
                          out));
  const std::string text = read_file(out);
  const auto number = [&](const std::string& name) {
    const std::size_t at = text.find(name + "=");
    INFO(name << " in " << text);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + name.size() + 1));
  };
  return {number("<p>width"), number(" cut"), number(" least"), number(" top")};
}

void make_report(const TemporaryFolder& folder) {
  REQUIRE(run_program({"run", source_path("scenarios/alexnet.json"), "--db", folder.file("r.db"),
                       "--report", folder.file("report.html"), "-q"})
              .exit_code == 0);
}

}  // namespace

TEST_CASE("an address with a place of a run leads to its timeline", "[needs-chromium]") {
  browser();  // or skipped
  const TemporaryFolder folder;
  make_report(folder);
  const std::string html = read_file(folder.file("report.html"));
  std::smatch found;
  REQUIRE(std::regex_search(html, found, std::regex("<figure[^>]* id=\"(run:\\d+@[^\"]+)\"")));
  for (const std::string& place :
       {found[1].str(), found[1].str().substr(0, found[1].str().find('@'))}) {
    INFO(place);
    CHECK(std::abs(measure(folder, place).top) < 50);
  }
  CHECK(measure(folder, "run:4711").top > 1e6);
}

TEST_CASE("a report is legible at 420 pixels", "[needs-chromium]") {
  browser();  // or skipped
  const TemporaryFolder folder;
  make_report(folder);
  const Measured page = measure(folder);
  CHECK(page.width <= 420);
  CHECK(page.cut == 0);
  CHECK(page.least >= 8);
  // Figures shrunk to the width of the screen, as they once were, have letters of 6.7 pixels.
  std::string html = read_file(folder.file("report.html"));
  for (std::size_t at = html.find("min-width:"); at != std::string::npos;
       at = html.find("min-width:", at))
    html.replace(at, 10, "max-width:");
  write_file(folder.file("report.html"), html);
  CHECK(measure(folder).least < 8);
  // What is wider than the screen and cannot be scrolled is found.
  html.replace(html.find("</h1>"), 5, "<p style=\"width:600px;text-align:right\">far out</p></h1>");
  write_file(folder.file("report.html"), html);
  CHECK(measure(folder).cut > 0);
}
