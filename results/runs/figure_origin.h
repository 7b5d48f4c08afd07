#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "results/store/store.h"

/// Where each figure comes from, that is stored or printed under a name. A figure's provenance in a
/// run follows from its origin and from how that run was made; nothing else labels figures.
namespace gradwire::results {

enum class Origin {
  kNoFigure,   ///< a number that identifies or counts what was asked for: id, seed, repetitions
  kGiven,      ///< said by the scenario, or arithmetic on what it says
  kTime,       ///< from the executor: times, and what crossed the network
  kPayload,    ///< lengths of encoded messages
  kCompute,    ///< times of forward and backward pass and update
  kCodec,      ///< times of encoding, decoding, adding
  kLearning,   ///< from training: loss, accuracy
  kMeasured,   ///< by a clock, or counted, here
  kSimulated,  ///< by the flow engine, whatever the run's executor
  kEmulated,   ///< by real processes over shaped links
  kPredicted,  ///< by a closed form, or a fit
  kPublished,  ///< read from a paper
  kAssumed,    ///< nobody has measured it
  kAsStated,   ///< its own row or caption says it: a point's time, a bar of a chart
};

struct FigureOrigin {
  /// As stored, printed and filtered by. A `*` at the end stands for any ending; a number at the
  /// end of a figure ("_3") is a bucket's, and not part of its name.
  std::string_view name;
  Origin origin;
  /// Of kAsStated: the column, in the figure's own row, that holds its provenance.
  std::string_view stated_by = "provenance";
};

/// All of them.
std::span<const FigureOrigin> figure_origins();
/// The entry of the figure; null where the table has none.
const FigureOrigin* find_origin(std::string_view figure);
/// Empty where the table has no such figure.
std::optional<Origin> origin_of(std::string_view figure);
/// "given by the scenario"; empty for what is no figure.
std::string_view in_words(Origin origin);

/// How a run's kinds of figures came about.
struct RunOrigins {
  Provenance time = Provenance::kSimulated;
  Provenance payload = Provenance::kMeasured;
  Provenance compute = Provenance::kMeasured;
  Provenance codec = Provenance::kMeasured;
};
/// The label of a figure of such a run. Precondition (assertion): the table has it, as a figure
/// that runs have.
Provenance provenance_in(std::string_view figure, const RunOrigins& origins);

/// The row of `figure` in a run that has it.
inline MetricRow labelled(std::int64_t step, std::string figure, double value, std::string unit,
                          const RunOrigins& origins) {
  const Provenance provenance = provenance_in(figure, origins);
  return {step, std::move(figure), value, std::move(unit), provenance};
}

}  // namespace gradwire::results
