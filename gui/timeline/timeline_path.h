#pragma once
#include <vector>

#include "gui/timeline/run_timeline.h"

/// What a segment's end waited for, back to the beginning of the run.
namespace gradwire::gui {

/// Operations, the first one first: each ended when the next could begin. Dependencies are not
/// stored; they follow from the times. Of the work of a worker: what ended last there before it
/// began. Of a rank of a collective: of the ranks that were ready before it was done, the last. Of
/// a transfer: what ended last at its two hosts. Where that reaches the run's own critical path
/// (sim/graph/critical_path.h), the rest is that path, which is exact.
struct CriticalChain {
  std::vector<std::uint32_t> segments;
  std::size_t known = 0;  ///< the first ones are of the run's own critical path
  /// [segments] how long each held up the next: to its end from the end of the one before.
  std::vector<double> share_s;
  double pause_s = 0;  ///< in which nothing on it went on
};

/// Of a wait: to what ended it. Empty where nothing did.
CriticalChain chain_to(const RunTimeline& timeline, std::uint32_t segment);
/// To the run's last end.
CriticalChain chain_to_end(const RunTimeline& timeline);

/// "9 operations over 22.5 ms: encode 5 %, transfer 61 %, ...".
QString chain_text(const RunTimeline& timeline, const CriticalChain& chain);

}  // namespace gradwire::gui
