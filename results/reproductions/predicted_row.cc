#include "results/reproductions/predicted_row.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "results/store/store.h"

namespace gradwire::results {

std::string published_figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

ReproductionRow predicted_row(std::string name, std::string method, double published,
                              double predicted, const std::string& unit, double most,
                              bool negative_control) {
  ReproductionRow row;
  row.name = std::move(name);
  row.method = std::move(method);
  row.claim = "measured " + published_figure(published) + unit + ", here " +
              published_figure(predicted) + unit;
  row.value = std::abs(predicted / published - 1);
  row.provenance = name_of(Provenance::kPredicted);
  row.pass_mark = PassMark{{}, most};
  row.negative_control = negative_control;
  return row;
}

}  // namespace gradwire::results
