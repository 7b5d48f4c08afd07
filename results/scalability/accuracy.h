#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/advice/steps_to_target.h"
#include "results/pages/html_page.h"

/// Time to an accuracy: steps that real training took, times a step's time.
namespace gradwire::results {

struct Scalability;
struct NamedFigure;

struct AccuracyOptions {
  double target = 0;  ///< a share in (0, 1]; 0: not asked for
  StepsAssumption assumption = StepsAssumption::kNone;
  std::vector<TrainedSteps> trained;  ///< of the training runs that steps are counted of
  std::string source;                 ///< "the report's own runs", or their filter
};

/// A series on a number of workers.
struct AccuracyRow {
  std::size_t series = 0;
  int workers = 0;
  StepsAnswer steps;
  double seconds = 0;
  /// Fewest steps of the seeds at the band's lower edge, most at its upper.
  double low_s = 0, high_s = 0;
  double cost = 0;     ///< 0 without prices
  bool known = false;  ///< its step time is of runs
};

struct AccuracyAnswer {
  std::vector<AccuracyRow> rows;     ///< by series and workers
  std::vector<std::string> refused;  ///< which workers of a series have none, and why the first
};

/// Empty where no accuracy is asked for.
AccuracyAnswer accuracy_of(const Scalability& all);
HtmlTable accuracy_table(const Scalability& all, const AccuracyAnswer& answer);
/// Time to the accuracy over workers, with the seeds' and the model's range.
NamedFigure accuracy_figure(const Scalability& all, const AccuracyAnswer& answer);

}  // namespace gradwire::results
