#include "results/scalability/accuracy.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "results/advice/cost.h"
#include "results/scalability/figures.h"

namespace gradwire::results {
namespace {

AccuracyRow accuracy_row(const Scalability& all, std::size_t series, int workers) {
  const ScaleSeries& its = all.data.series[series];
  const ScaleAnswer step = *all.answer(series, workers);
  AccuracyRow row;
  row.series = series;
  row.workers = workers;
  row.known = step.known;
  row.steps = steps_for(all.options.accuracy.trained, its.header.method,
                        std::llround(workers * its.samples), all.options.accuracy.assumption);
  row.seconds = row.steps.steps * step.seconds;
  row.low_s = row.steps.low * step.low_s;
  row.high_s = row.steps.high * step.high_s;
  const Prices& prices = all.options.costs.prices;
  if (prices.any() && all.model(series))
    row.cost = row.steps.steps *
               cost_of_step(all.predicted(series, workers).step, step.seconds, prices).total();
  return row;
}

std::string whole(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", value);
  return text;
}

std::string steps_text(const StepsAnswer& steps) {
  return whole(steps.steps) +
         (steps.low < steps.high ? " (" + whole(steps.low) + " to " + whole(steps.high) + ")" : "");
}

}  // namespace

AccuracyAnswer accuracy_of(const Scalability& all) {
  AccuracyAnswer answer;
  if (all.options.accuracy.target <= 0) return answer;
  for (std::size_t i = 0; i < all.data.series.size(); ++i) {
    if (all.data.series[i].samples <= 0) continue;
    std::vector<std::string> without;
    std::string reason;
    for (const int workers : shown_workers(all, i)) {
      try {
        answer.rows.push_back(accuracy_row(all, i, workers));
      } catch (const Error& error) {  // a method or batch that nobody trained
        without.push_back(std::to_string(workers));
        if (reason.empty()) reason = error.what();
      }
    }
    if (!without.empty())
      answer.refused.push_back("Not on " + in_words(without) + " workers: " + reason);
  }
  return answer;
}

HtmlTable accuracy_table(const Scalability& all, const AccuracyAnswer& answer) {
  const bool priced = all.options.costs.prices.any();
  HtmlTable table = {{"series", "workers", "steps (seeds)", "time", "range"}};
  if (priced) table[0].push_back("cost");
  for (const char* name : {"step time", "steps from"}) table[0].push_back(name);
  for (const AccuracyRow& row : answer.rows) {
    table.push_back({all.data.series[row.series].name, std::to_string(row.workers),
                     steps_text(row.steps), format_value(row.seconds, Quantity::kSeconds),
                     range_words(row.low_s, row.high_s, Quantity::kSeconds)});
    if (priced) table.back().push_back(money(row.cost, all.options.costs.currency));
    table.back().push_back(row.known                                  ? "of runs"
                           : all.within_runs(row.series, row.workers) ? "predicted"
                                                                      : "extrapolated");
    table.back().push_back(row.steps.basis);
  }
  return table;
}

NamedFigure accuracy_figure(const Scalability& all, const AccuracyAnswer& answer) {
  NamedFigure named{"time-to-accuracy", {{}, kFigureWidth, 350}};
  Figure& figure = named.drawn.figure;
  figure.title = "Time to " + percent(all.options.accuracy.target) + " accuracy";
  figure.subtitle =
      "whiskers: fewest steps of the seeds at the band's lower edge to most at its "
      "upper";
  figure.x = {"workers", Quantity::kPlain, Scale::kLog2};
  figure.y = {"time", Quantity::kSeconds, Scale::kLog10};
  figure.legend = Legend::kBottom;
  for (std::size_t i = 0; i < all.data.series.size(); ++i) {
    Series marks{SeriesKind::kIntervals, all.data.series[i].name, {}, {}, {}, {}, "",
                 scale_style(all, i)};
    for (const AccuracyRow& row : answer.rows) {
      if (row.series != i) continue;
      marks.x.push_back(row.workers);
      marks.y.push_back(row.seconds);
      marks.low.push_back(std::min(row.low_s, row.seconds));
      marks.high.push_back(std::max(row.high_s, row.seconds));
    }
    if (!marks.x.empty()) figure.series.push_back(std::move(marks));
  }
  set_source(all, figure);
  figure.provenance = "steps measured; step times: " + figure.provenance;
  return named;
}

}  // namespace gradwire::results
