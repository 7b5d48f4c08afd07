#include "results/reproductions/reproduction.h"

#include <algorithm>
#include <cstdio>

namespace gradwire::results {
namespace {

std::string plain(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace

std::string PassMark::text() const {
  if (least && most) return plain(*least) + ".." + plain(*most);
  if (most) return "<= " + plain(*most);
  return least ? ">= " + plain(*least) : "";
}

std::optional<bool> ReproductionRow::holds() const {
  if (!pass_mark) return std::nullopt;
  return pass_mark->met_by(value) != negative_control;
}

bool all_hold(std::span<const ReproductionRow> rows) {
  return std::all_of(rows.begin(), rows.end(),
                     [](const ReproductionRow& row) { return row.holds().value_or(true); });
}

}  // namespace gradwire::results
