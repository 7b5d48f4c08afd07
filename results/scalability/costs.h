#pragma once
#include <string>
#include <vector>

#include "results/advice/cost.h"
#include "results/pages/html_page.h"

/// What the series' steps cost (results/advice/cost.h).
namespace gradwire::results {

struct Scalability;

/// A series on a number of workers.
struct CostRow {
  std::size_t series = 0;
  int workers = 0;
  double hours = 0;       ///< of an epoch, or of a million samples
  StepCost cost;          ///< the same
  bool on_front = false;  ///< no other is both faster and cheaper
  bool known = false;     ///< its step time is of runs
};

/// Rows of all series with a model and samples, by series and workers; empty without prices.
std::vector<CostRow> cost_rows(const Scalability& all);
/// A row a number of workers, a column a series: cost and time.
HtmlTable cost_table(const Scalability& all, const std::vector<CostRow>& rows);
/// The rows that nothing beats, the fastest first, with what the cost is made of.
HtmlTable front_table(const Scalability& all, const std::vector<CostRow>& rows);
/// "3.20 USD"; three digits.
std::string money(double value, const std::string& currency);
/// "a GPU hour 2.50 USD, ..." : the prices that were given.
std::string price_words(const CostOptions& options);

}  // namespace gradwire::results
