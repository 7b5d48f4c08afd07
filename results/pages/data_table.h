#pragma once
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "results/figures/plot_geometry.h"
#include "results/pages/html_page.h"

/// A table of figures with their units, once for all the forms it is written in: as people read it,
/// and to full precision for programs.
namespace gradwire::results {

struct DataColumn {
  std::string key;    ///< for programs, with its unit: "step_time_s"
  std::string title;  ///< for people
  Quantity quantity = Quantity::kPlain;
  enum class Kind { kNumber, kText, kPlace } kind = Kind::kNumber;  ///< kPlace: "run:42@1s..2s"
};

struct DataValue {
  DataValue(std::string words) : text(std::move(words)) {}  // NOLINT: values are written as lists
  DataValue(const char* words) : text(words) {}             // NOLINT
  DataValue(double value) : number(value) {}                // NOLINT
  std::string text;
  double number = std::numeric_limits<double>::quiet_NaN();  ///< NaN = missing, or a text
};

struct DataTable {
  std::vector<DataColumn> columns;
  std::vector<std::vector<DataValue>> rows;
};

/// A header, then each row as it is shown; missing figures are "-".
HtmlTable shown(const DataTable& table);
/// Each place has an anchor of its own name, so that "#run:42@1s..2s" leads there. `anchors`: those
/// that the page has already, and then has; null: none.
std::string data_html(const DataTable& table, std::set<std::string>* anchors = nullptr);
/// RFC 4180, numbers to full precision.
std::string data_csv(const DataTable& table);
/// An array of objects; missing figures are null.
std::string data_json(const DataTable& table, int indent);

/// Markdown in which names are text, also where a page renders HTML within it.
std::string without_tags(std::string markdown);

}  // namespace gradwire::results
