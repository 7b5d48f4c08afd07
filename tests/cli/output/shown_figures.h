#pragma once
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <regex>
#include <string>
#include <vector>

/// A report's first screen as a reader finds it: its table, and the figures in its cells.
namespace gradwire::testing {

using Cells = std::map<std::string, std::string>;  ///< by column

inline std::string plain(std::string html) {
  html = std::regex_replace(html, std::regex("<br/>"), " | ");
  html = std::regex_replace(html, std::regex("<[^>]*>"), "");
  for (const auto& [from, to] : std::map<std::string, std::string>{
           {"\u00a0", " "}, {"&lt;", "<"}, {"&gt;", ">"}, {"&#39;", "'"}, {"&amp;", "&"}})
    for (std::size_t at = html.find(from); at != std::string::npos; at = html.find(from, at + 1))
      html.replace(at, from.size(), to);
  return html;
}

/// The rows of the first table; a row without a workload's name is of the one above.
inline std::vector<Cells> first_screen(const std::string& html) {
  const std::size_t from = html.find("<table class=\"planner\">");
  REQUIRE(from != std::string::npos);
  const std::string table = html.substr(from, html.find("</table>", from) - from);
  const std::regex row("<tr[^>]*>(<td[\\s\\S]*?)</tr>"),
      cell("<td data-label=\"(\\w+)\">(.*?)</td>");
  std::vector<Cells> rows;
  std::string workload;
  for (std::sregex_iterator r(table.begin(), table.end(), row), end; r != end; ++r) {
    const std::string inner = (*r)[1];
    Cells cells;
    for (std::sregex_iterator c(inner.begin(), inner.end(), cell); c != end; ++c)
      cells[(*c)[1]] = plain((*c)[2]);
    std::smatch name;
    if (std::regex_search(cells["runs"], name, std::regex("^([\\w-]+).*: (\\d+) runs?"))) {
      workload = name[1];
      cells["count"] = name[2];
    }
    cells["workload"] = workload;
    rows.push_back(cells);
  }
  return rows;
}

struct Shown {
  double value = 0, last_digit = 0;  ///< in base units
  bool spread = false;
};

/// Each figure of a cell in its base unit (s, B, bit/s, shares), in order.
inline std::vector<Shown> figures(const std::string& text) {
  static const std::map<std::string, double> units = {
      {"ns", 1e-9}, {"\u00b5s", 1e-6}, {"ms", 1e-3},    {"s", 1},
      {"min", 60},  {"h", 3600},       {"B", 1},        {"kB", 1e3},
      {"MB", 1e6},  {"GB", 1e9},       {"Mbps", 1e6},   {"Gbps", 1e9},
      {"%", 0.01},  {"points", 0.01},  {"worker-s", 1}, {"worker-h", 3600}};
  static const std::regex number(
      "(\u00b1 ?)?(\u2212|\\+)?(\\d+)(\\.(\\d+))?(e-?\\d+)?"
      "( (worker-s|worker-h|points|ns|\u00b5s|ms|s|min|h|kB|MB|GB|B|Mbps|Gbps|%)(?![\\w-]))?");
  std::vector<Shown> all;
  for (std::sregex_iterator i(text.begin(), text.end(), number), end; i != end; ++i) {
    const std::smatch& m = *i;
    Shown shown;
    shown.spread = m[1].matched;
    shown.value = std::stod(m[3].str() + m[4].str() + m[6].str()) * (m[2] == "\u2212" ? -1 : 1);
    shown.last_digit = std::pow(10.0, -static_cast<double>(m[5].length()));
    const double unit = m[8].matched ? units.at(m[8]) : 1;
    // "14.6 ± 0.1 ms": the unit of both stands behind the spread.
    for (Shown* each :
         {&shown, shown.spread && m[8].matched && !all.empty() ? &all.back() : nullptr})
      if (each) each->value *= unit, each->last_digit *= unit;
    all.push_back(shown);
  }
  return all;
}

/// What is wrong with a cell: means are held to 1 %, spreads and differences to their last digit.
inline std::string wrong_in(const std::string& text, const std::vector<double>& expected) {
  const std::vector<Shown> shown = figures(text);
  if (shown.size() != expected.size())
    return "shows " + std::to_string(shown.size()) + " figures, not " +
           std::to_string(expected.size());
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const bool by_digit = shown[i].spread || text.find("points") != std::string::npos;
    const double allowed =
        by_digit ? 0.501 * shown[i].last_digit : 0.01 * std::abs(expected[i]) + 1e-12;
    if (std::abs(shown[i].value - expected[i]) > allowed)
      return "shows " + std::to_string(shown[i].value) + ", not " + std::to_string(expected[i]);
  }
  return "";
}

}  // namespace gradwire::testing
