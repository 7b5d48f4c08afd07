#pragma once
#include "results/figures/figure_painter.h"
#include "results/runs/step_window.h"

/// A step's timeline as a static picture. A host has a row: above what it computes (full height)
/// and encodes or decodes (two thirds), with a thin line where it waits for the network; below its
/// transfers; between them the critical path, joined from host to host.
namespace gradwire::results {

struct TimelineDrawing {
  StepWindow window;
  int workers = 0;                   ///< of the run; hosts beyond are servers
  std::vector<WorkerTimes> rows;     ///< the hosts that are drawn
  bool with_mean = false;            ///< a row above: shares of all workers
  double pause_s = 0;                ///< pauses below are closed
  std::vector<std::string> heading;  ///< lines above the picture
};

/// At most `most_rows` hosts: those of the critical path first, a server, then others at even
/// distances; and pauses closed until there are at most `most_pieces` pieces in all.
TimelineDrawing drawing_of(StepWindow window, int workers, std::size_t most_rows,
                           std::size_t most_pieces, double width);

double height_of(const TimelineDrawing& drawing);
void paint(const TimelineDrawing& drawing, double width, Canvas& canvas);

}  // namespace gradwire::results
