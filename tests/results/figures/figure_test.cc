#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/file_descriptor.h"
#include "results/figures/svg.h"
#include "tests/results/figures/figure_samples.h"
#include "tests/results/test_store.h"
#include "tests/results/xml_check.h"

using namespace gradwire::results;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the XML check itself finds what is broken", "[figure]") {
  CHECK(xml_problem("<a b=\"1\"><c/>text &amp; more</a>") == "");
  CHECK(xml_problem("<a><b></a></b>") != "");
  CHECK(xml_problem("<a>fish & chips</a>") != "");
  CHECK(xml_problem("<a b=1/>") != "");
  CHECK(xml_problem("<a") != "");
  CHECK(xml_problem("<a/><b/>") != "");
}

TEST_CASE("a figure becomes well-formed SVG that names its scenario", "[figure]") {
  const std::string svg = to_svg(sample_figure(50));
  CHECK(xml_problem(svg) == "");
  CHECK(has(svg, "Accuracy &amp; loss &lt;over&gt; time"));
  CHECK(has(svg, "<metadata>scenario_hash=0123456789abcdef"));
  CHECK(has(svg, "held-out accuracy (%)"));
  CHECK(has(svg, "simulated time (s)"));
  CHECK(has(svg, "<desc>"));
  CHECK(has(svg, "target 90 %"));
  CHECK_FALSE(has(svg, "Lnan"));
  CHECK_FALSE(has(svg, "\"nan"));
  CHECK_FALSE(has(svg, "inf\""));
  Figure strange = sample_figure(5);
  strange.title = "bad \x01 and \xff and \xc3\xa9";
  CHECK(xml_problem(to_svg(strange)) == "");
  CHECK(has(to_svg(strange), "bad \uFFFD and \uFFFD and \u00e9"));
}

TEST_CASE("a line of 100,000 points takes less than 200 KB", "[figure]") {
  const std::string svg = to_svg(sample_figure(100'000, 1));
  CHECK(svg.size() < 200'000);
  CHECK(svg.size() > 20'000);  // it is there
  Figure scatter = sample_figure(100'000, 1);
  scatter.series[0].kind = SeriesKind::kScatter;
  CHECK(xml_problem(to_svg(scatter)) == "");
}

TEST_CASE("an inline figure has no colour of its own", "[figure]") {
  const std::string svg = to_svg(sample_figure(20), {.inline_html = true});
  CHECK(has(svg, "var(--gw-s0)"));
  CHECK_FALSE(has(svg, "#0072b2"));
  CHECK(has(to_svg(sample_figure(20)), "#0072b2"));
  const std::string css = css_variables(Theme::dark());
  CHECK(has(css, "--gw-ink:#e8eaed;"));
  CHECK(has(css, "--gw-s7:"));
}

TEST_CASE("both themes keep their contrasts", "[figure]") {
  CHECK(contrast({0, 0, 0}, {255, 255, 255}) == Approx(21));  // WCAG's own extremes
  CHECK(contrast({119, 119, 119}, {255, 255, 255}) == Approx(4.48).margin(0.01));
  for (const Theme& theme : {Theme::light(), Theme::dark()}) {
    CHECK(contrast(theme.ink, theme.background) >= 4.5);
    CHECK(contrast(theme.muted, theme.background) >= 4.5);
    for (const Color color : theme.series) CHECK(contrast(color, theme.background) >= 3.0);
  }
  // Negative control: Okabe and Ito's yellow on white as it is.
  CHECK(contrast({0xF0, 0xE4, 0x42}, {255, 255, 255}) < 3.0);
}

TEST_CASE("series differ without colour too", "[figure]") {
  for (int a = 0; a < 16; ++a)
    for (int b = 0; b < a; ++b) {
      const SeriesStyle one = series_style(a, true), other = series_style(b, true);
      const bool same_color =
          one.color.series % kSeriesColors == other.color.series % kSeriesColors;
      CHECK_FALSE((same_color && one.mark == other.mark));
      if (a < 8) CHECK(one.mark != other.mark);
    }
}

TEST_CASE("stacked bars count from zero and add up", "[figure]") {
  Figure figure;
  figure.x.categories = {"none", "topk"};
  figure.y = {"step time", Quantity::kSeconds};
  for (const double part : {0.25, 0.5}) {
    Series series;
    series.kind = SeriesKind::kBars;
    series.name = "part " + std::to_string(part);
    series.stack = "step";
    series.x = {0, 1};
    series.y = {part, part * 2};
    series.style = series_style(static_cast<int>(figure.series.size()));
    figure.series.push_back(series);
  }
  CHECK(extent(figure).y.low == 0);
  CHECK(extent(figure).y.high == 1.5);  // (0.25 + 0.5) * 2
  for (Series& series : figure.series) series.stack.clear();
  CHECK(extent(figure).y.high == 1.0);  // side by side: the largest alone
  CHECK(xml_problem(to_svg(figure)) == "");
  std::swap(figure.x, figure.y);
  figure.horizontal_bars = true;
  const std::string svg = to_svg(figure);
  CHECK(xml_problem(svg) == "");
  CHECK(has(svg, ">topk</text>"));
  CHECK(has(figure_csv(figure), "\"topk\",1,,"));
}

TEST_CASE("every kind of series and mark is drawn", "[figure]") {
  Figure figure = sample_figure(10, 9);
  for (int i = 0; i < 9; ++i) figure.series[i].style.mark = static_cast<Mark>(i);
  figure.series[0].kind = SeriesKind::kStep;
  for (const int i : {1, 2}) {
    figure.series[i].low = figure.series[i].high = figure.series[i].y;
    for (double& value : figure.series[i].low) value -= 0.1;
  }
  figure.series[1].kind = SeriesKind::kBand;
  figure.series[2].kind = SeriesKind::kIntervals;
  figure.series[3].kind = SeriesKind::kScatter;
  for (const Legend legend : {Legend::kNone, Legend::kRight, Legend::kBottom}) {
    figure.legend = legend;
    CHECK(xml_problem(to_svg(figure)) == "");
  }
  CHECK(extent(figure).y.low == Approx(figure.series[1].low[0]).margin(0.2));
}

TEST_CASE("a figure without points is still a figure", "[figure]") {
  Figure figure;
  figure.title = "nothing yet";
  CHECK(xml_problem(to_svg(figure)) == "");
  figure.x.scale = figure.y.scale = Scale::kLog10;
  figure.series.push_back({SeriesKind::kLine, "all zero", {0, 0}, {0, 0}, {}, {}, {}, {}});
  CHECK(xml_problem(to_svg(figure)) == "");
}
