#include "results/advice/published_accuracy.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "results/export/csv.h"
#include "results/runs/difference.h"
#include "results/runs/scenario_view.h"

namespace gradwire::results {
namespace {

double share_of(const CsvTable& table, std::size_t row, const char* column) {
  const double percent = table.positive(row, column, std::numeric_limits<double>::quiet_NaN());
  if (percent > 100) table.refuse(row, column, "it is above 100 %");
  return percent / 100;
}

PublishedAccuracy row_of(const CsvTable& table, std::size_t row) {
  const auto text = [&](const char* column) { return table.text(row, column); };
  PublishedAccuracy published;
  published.method = text("method");
  published.settings = text("settings");
  published.model = text("model");
  published.data_set = text("data");
  published.figure = text("figure");
  published.uncompressed = share_of(table, row, "uncompressed");
  published.compressed = share_of(table, row, "compressed");
  published.workers = text("workers");
  published.note = text("note");
  published.source = text("source");
  published.second_hand = text("read") == "summary";
  if (std::isnan(published.uncompressed) != std::isnan(published.compressed))
    table.refuse(row, "compressed", "one of the two accuracies is missing");
  for (const char* column : {"method", "model", "data", "source"})
    if (text(column).empty()) table.refuse(row, column, "it is empty");
  if (text("read") != "summary" && text("read") != "paper")
    table.refuse(row, "read", "it is neither paper nor summary");
  return published;
}

using Rows = std::vector<const PublishedAccuracy*>;

/// The rows of the method that say most about the question.
Rows nearest(const std::vector<PublishedAccuracy>& rows, const std::string& method,
             const std::string& method_json, const std::string& model) {
  std::vector<Rows> tiers(4);
  for (const PublishedAccuracy& row : rows) {
    if (row.method != method) continue;
    const bool settings = same_settings(row, method_json), same = same_model(row, model);
    tiers[same && settings ? 0 : settings ? 1 : same ? 2 : 3].push_back(&row);
  }
  for (Rows& tier : tiers)
    if (!tier.empty()) return tier;
  return {};
}

std::string joined(const Rows& rows, std::string PublishedAccuracy::*member) {
  std::string list;
  std::set<std::string> seen;
  for (const PublishedAccuracy* row : rows)
    if (const std::string& text = row->*member; !text.empty() && seen.insert(text).second)
      list += (list.empty() ? "" : ", ") + text;
  return list;
}

std::string range_of(const Rows& rows) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const PublishedAccuracy* row : rows) {
    if (!row->has_figures()) continue;
    low = std::min(low, row->difference());
    high = std::max(high, row->difference());
  }
  if (low > high) return "curves without figures";
  const std::string first = signed_in_points(low), last = signed_in_points(high);
  return (first == last ? first : first + " to " + last) + " points";
}

}  // namespace

std::vector<PublishedAccuracy> read_published_accuracy(std::string_view csv,
                                                       const std::string& file) {
  const CsvTable table(csv, file);
  table.expect({"method", "settings", "model", "data", "figure", "uncompressed", "compressed",
                "workers", "note", "source", "read"},
               {});
  std::vector<PublishedAccuracy> rows;
  for (std::size_t i = 0; i < table.rows(); ++i) rows.push_back(row_of(table, i));
  return rows;
}

bool same_settings(const PublishedAccuracy& row, const std::string& method_json) {
  const auto leaves = scenario_leaves(method_json);
  std::size_t begin = 0;
  while (begin < row.settings.size()) {
    const std::size_t end = std::min(row.settings.find(':', begin), row.settings.size());
    const std::string one = row.settings.substr(begin, end - begin);
    const std::size_t equals = std::min(one.find('='), one.size() - 1);
    const std::string name = "/" + one.substr(0, equals), value = one.substr(equals + 1);
    const auto found =
        std::ranges::find_if(leaves, [&](const auto& leaf) { return leaf.first.ends_with(name); });
    double wanted = 0, given = 0;
    if (found == leaves.end()) return false;
    const bool numbers = number_from(value, wanted) && number_from(found->second, given);
    if (numbers ? wanted != given : value != found->second) return false;
    begin = end + 1;
  }
  return true;
}

bool same_model(const PublishedAccuracy& row, const std::string& model) {
  return model == row.model || model.starts_with(row.model + "-");
}

std::string published_words(const std::vector<PublishedAccuracy>& rows, const std::string& method,
                            const std::string& method_json, const std::string& model) {
  const Rows about = nearest(rows, method, method_json, model);
  if (about.empty()) return "nothing published about it is on file";
  std::string words =
      "published: " + range_of(about) + " for " + joined(about, &PublishedAccuracy::model);
  const std::string settings = joined(about, &PublishedAccuracy::settings);
  if (!same_settings(*about.front(), method_json)) words += " with " + settings;
  const std::string notes = joined(about, &PublishedAccuracy::note);
  if (!notes.empty()) words += ", " + notes;
  words += " (" + joined(about, &PublishedAccuracy::source);
  const bool second = std::ranges::any_of(about, &PublishedAccuracy::second_hand);
  return words + (second ? ", read in a summary)" : ")");
}

}  // namespace gradwire::results
