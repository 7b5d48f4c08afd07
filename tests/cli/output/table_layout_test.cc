#include "cli/output/table_layout.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "base/text_width.h"

using namespace gradwire;
using namespace gradwire::cli;
using Catch::Contains;

namespace {

std::string text_of(const Layout& layout) {
  return layout.head + layout.body;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
  return widest;
}

const std::vector<std::vector<std::string>> kRows = {
    {"topk", "1.2 s", "flow", "12", "a long remark about this run that takes several lines"},
    {"none", "34.5 s", "packet", "7", "-"}};

std::vector<LayoutColumn> columns() {
  return {{"method", Importance::kKey},
          {"step time", Importance::kHigh, true, true},
          {"executor", Importance::kLow},
          {"seed", Importance::kNormal, true, true},
          {"remark", Importance::kNormal}};
}

}  // namespace

TEST_CASE("a table that fits is a Markdown table of one line a row", "[unit]") {
  const Layout layout = lay_out({{"method"}, {"step time", Importance::kNormal, true, true}},
                                {{"topk", "1.2 s"}, {"terngrad", "µs"}}, 80);
  CHECK(text_of(layout) ==
        "| method   | step time |\n"
        "|----------|----------:|\n"
        "| topk     |     1.2 s |\n"
        "| terngrad |        µs |\n");
  CHECK(layout.left_out.empty());
  CHECK(left_out_note(layout.left_out, 80).empty());
}

TEST_CASE("without a width a table takes what it needs", "[unit]") {
  const Layout layout = lay_out(columns(), kRows, 0);
  CHECK(layout.left_out.empty());
  CHECK_THAT(text_of(layout),
             Contains("| a long remark about this run that takes several lines |"));
}

TEST_CASE("a narrow page breaks long cells first, and keeps every word", "[unit]") {
  const Layout layout = lay_out(columns(), kRows, 70);
  CHECK(layout.left_out.empty());
  CHECK(widest_line(text_of(layout)) == 70);
  for (const char* word : {"remark", "several", "lines", "topk", "34.5 s", "packet"})
    CHECK_THAT(text_of(layout), Contains(word));
}

TEST_CASE("then columns are left out by importance and named", "[unit]") {
  // Frame 3 n + 1. Least widths: method 6, step time 6 ("34.5 s"), executor 8, seed 4, remark 18:
  // all five take 42 + 16 = 58.
  CHECK(lay_out(columns(), kRows, 58).left_out.empty());
  using Titles = std::vector<std::string>;
  CHECK(lay_out(columns(), kRows, 57).left_out == Titles{"executor"});
  // Of seed and remark, equally important, the one on the right goes: 34 + 13 = 47 with both.
  CHECK(lay_out(columns(), kRows, 46).left_out == Titles{"executor", "remark"});
  CHECK(lay_out(columns(), kRows, 25).left_out == Titles{"executor", "seed", "remark"});
  CHECK(left_out_note({"executor", "seed"}, 80) ==
        "2 columns left out: executor, seed; --wide shows all\n");
  CHECK(left_out_note({"seed"}, 80) == "1 column left out: seed; --wide shows all\n");
  for (std::size_t width = 20; width < 120; ++width) {
    CAPTURE(width);
    const Layout layout = lay_out(columns(), kRows, width);
    CHECK(widest_line(text_of(layout)) <= width);
    CHECK(widest_line(left_out_note(layout.left_out, width)) <= width);
  }
}

TEST_CASE("a column without a value goes before those that say something", "[unit]") {
  const Layout layout =
      lay_out({{"run"}, {"events", Importance::kHigh}, {"seed", Importance::kLow}},
              {{"1", "-", "12"}, {"2", "-", "13"}}, 20);
  CHECK(layout.left_out == std::vector<std::string>{"events"});
}

TEST_CASE("a single column is broken where a page has no room for a piece of it", "[unit]") {
  const Layout layout = lay_out({{"name"}}, {{std::string(50, 'x')}}, 20);
  CHECK(widest_line(text_of(layout)) <= 20);
  CHECK(std::count(layout.body.begin(), layout.body.end(), 'x') == 50);
}
