#include "bench/gui/gui.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "base/error.h"
#include "bench/rows/peer_program.h"

namespace gradwire::bench {
namespace {

constexpr const char* kGuiProgram = "gradwire-bench-gui";

struct GuiBar {
  const char* name;
  const char* unit;
  double bar;
  bool at_most = true;
};

/// What a user notices: a frame of 60 a second, a tenth of a second after a click, and a window
/// that seems to hang.
constexpr std::array<GuiBar, 17> kGuiBars = {{
    {"gui.runs10000.sort", "ms", 100},
    {"gui.runs10000.filter", "ms", 100},
    {"gui.runs10000.select", "ms", 50},
    {"gui.points10000.hover", "ms", 16},
    {"gui.segments640000.pan", "pictures/s", 30, false},
    {"gui.segments640000.zoom", "pictures/s", 30, false},
    {"gui.nodes1024.paint", "ms", 100},
    {"gui.what_if.answer", "ms", 50},
    {"gui.run.cancel", "ms", 200},
    {"gui.runs100000.open.longest_freeze", "ms", 200},
    {"gui.runs100000.filter.longest_freeze", "ms", 200},
    {"gui.runs100000.sort.longest_freeze", "ms", 200},
    {"gui.runs100000.select.longest_freeze", "ms", 200},
    {"gui.runs100000.seeds.longest_freeze", "ms", 200},
    {"gui.runs100000.scaling.longest_freeze", "ms", 200},
    {"gui.runs100000.parallel.longest_freeze", "ms", 200},
    {"gui.runs100000.refresh.longest_freeze", "ms", 200},
}};

}  // namespace

std::vector<BenchRow> bench_gui(const Say& say) {
  std::vector<BenchRow> rows;
  for (const GuiBar& each : kGuiBars) {
    rows.push_back(
        {.name = each.name, .unit = each.unit, .bar = each.bar, .at_most = each.at_most});
  }
  if (!has_peer_program(kGuiProgram)) {
    for (BenchRow& row : rows) row.skipped = "the desktop program's benchmark is not built";
    return labelled(std::move(rows), "measured");
  }
  say("opening windows without a screen");
  std::istringstream lines(peer_program_output(kGuiProgram, {}));
  std::string name;
  double value = 0;
  std::size_t found = 0;
  while (lines >> name >> value) {
    const auto row = std::ranges::find(rows, name, &BenchRow::name);
    if (row == rows.end())
      throw Error(ErrorKind::kFailure, "measure", kGuiProgram, "it said: " + name);
    row->value = value;
    ++found;
  }
  if (found != rows.size())
    throw Error(
        ErrorKind::kFailure, "measure", kGuiProgram,
        "it gave " + std::to_string(found) + " of " + std::to_string(rows.size()) + " figures");
  return labelled(std::move(rows), "measured");
}

}  // namespace gradwire::bench
