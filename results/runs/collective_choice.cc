#include "results/runs/collective_choice.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

namespace gradwire::results {
namespace {

const std::string kBefore = "auto_", kAfter = "_s";

std::string milliseconds(double seconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%.4g ms", seconds * 1e3);
  return text;
}

}  // namespace

std::string choice_metric(const std::string& collective) {
  return kBefore + collective + kAfter;
}

std::string choice_sentence(std::span<const MetricRow> metrics) {
  std::vector<std::pair<double, std::string>> times;
  for (const MetricRow& row : metrics) {
    if (row.step != -1 || !row.name.starts_with(kBefore) || !row.name.ends_with(kAfter)) continue;
    times.emplace_back(row.value, row.name.substr(kBefore.size(), row.name.size() - kBefore.size() -
                                                                      kAfter.size()));
  }
  if (times.empty()) return "";
  std::stable_sort(times.begin(), times.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text = "collective auto took " + times[0].second + ": a step's exchange alone takes ";
  for (std::size_t i = 0; i < times.size(); ++i)
    text += (i == 0 ? "" : ", ") + milliseconds(times[i].first) + " by " + times[i].second;
  return text + " (flow, links without loss, open windows).";
}

}  // namespace gradwire::results
