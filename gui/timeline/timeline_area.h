#pragma once
#include <vector>

#include "gui/models/data_table.h"
#include "gui/timeline/run_timeline.h"

/// What went on in a range of time.
namespace gradwire::gui {

struct AreaPhase {
  Phase phase = Phase::kOther;
  std::size_t count = 0;  ///< segments that reach into the range
  double inside_s = 0;    ///< their parts inside it, summed over workers
  /// Of their whole durations.
  double least_s = 0, mean_s = 0, most_s = 0;
};

struct AreaStatistics {
  double from_s = 0, to_s = 0;
  int workers = 0;
  std::vector<AreaPhase> phases;  ///< those that occur
  results::TimeSplit split;       ///< of the parts inside, means over the run's workers
  struct Link {
    std::string name;
    double bytes = 0, utilisation = 0;  ///< share of its nominal rate over the range
  };
  std::vector<Link> links;  ///< busiest first, those that carried something

  double hidden_s() const { return split.network_s - split.exposed_s; }
};

AreaStatistics area_statistics(const RunTimeline& timeline, double from_s, double to_s);

/// "12.5 ms: compute 3 ms, codec 1 ms, network 8 ms, of which 2 ms hidden (25 %) and 6 ms exposed".
QString area_text(const AreaStatistics& area);

/// For people and screen readers: a line a phase, then the split, then the links.
DataTable area_table(const AreaStatistics& area);

}  // namespace gradwire::gui
