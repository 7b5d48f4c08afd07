#pragma once
#include <optional>
#include <vector>

#include "results/advice/crossover.h"
#include "results/scalability/figures.h"

/// Series that differ in method and exchange only, held against each other over link rates and
/// workers (results/advice).
namespace gradwire::results {

struct Competition {
  StepFit fit;  ///< one for all series' points: what is the network's is the same for all
  std::vector<int> workers;
  /// By method and number of workers: the link rate below which it pays against fp32 and fp16.
  std::vector<Crossover> crossings;
  double rate = 0;  ///< of a worker's link today, B/s
};

/// Empty where the series do not compete, where none is fp32 or fp16 as it is, where none
/// compresses beyond, without models that hold, and where one fit misses the runs beyond its band:
/// `reason` then says why.
std::optional<Competition> competition_of(const Scalability& all, std::string& reason);

/// The crossing rate of each method over workers; below its line it pays.
NamedFigure crossover_figure(const Scalability& all, const Competition& competition);
/// A row a method, a column a number of workers.
HtmlTable crossover_table(const Competition& competition);

}  // namespace gradwire::results
