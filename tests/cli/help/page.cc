#include "tests/cli/help/page.h"

#include <algorithm>
#include <sstream>

#include "base/text_width.h"

namespace gradwire::testing {
namespace {

std::string without_spaces(const std::string& text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out), [](char c) { return c != ' '; });
  return out;
}

/// Places of the bars between columns, from the rule below the titles ("|---|--:|"), in columns of
/// the page.
std::vector<std::size_t> bars_of(const std::string& rule) {
  std::vector<std::size_t> bars;
  for (std::size_t i = 0; i < rule.size(); ++i)
    if (rule[i] == '|') bars.push_back(i);
  return bars;
}

bool is_rule(const std::string& line) {
  return line.starts_with("|-") && line.find_first_not_of("|-:") == std::string::npos;
}

/// The byte at which a column of the page begins.
std::size_t byte_at(const std::string& line, std::size_t column) {
  std::size_t at = 0;
  for (; at < line.size(); ++at)
    if ((line[at] & 0xC0) != 0x80 && column-- == 0) break;
  return at;
}

std::vector<std::string> cells_of(const std::string& line, const std::vector<std::size_t>& bars) {
  std::vector<std::string> cells;
  for (std::size_t i = 0; i + 1 < bars.size(); ++i) {
    const std::size_t begin = byte_at(line, bars[i] + 1), end = byte_at(line, bars[i + 1]);
    cells.push_back(without_spaces(line.substr(begin, end - begin)));
  }
  return cells;
}

PageTable table_of(const std::vector<std::string>& head, const std::string& rule,
                   const std::vector<std::string>& body) {
  const std::vector<std::size_t> bars = bars_of(rule);
  PageTable table;
  table.titles.resize(bars.size() - 1);
  for (const std::string& line : head) {
    const auto cells = cells_of(line, bars);
    for (std::size_t i = 0; i < cells.size(); ++i) table.titles[i] += cells[i];
  }
  for (std::size_t i = 0; i < table.titles.size(); ++i) {
    const auto same =
        std::count(table.titles.begin(), table.titles.begin() + static_cast<std::ptrdiff_t>(i),
                   table.titles[i]);
    if (same > 0) table.titles[i] += "#" + std::to_string(same + 1);
    if (rule[bars[i + 1] - 1] == ':') table.right.insert(table.titles[i]);
  }
  for (const std::string& line : body) {
    const auto cells = cells_of(line, bars);
    for (std::size_t i = 0; i < cells.size(); ++i) table.cells[table.titles[i]] += cells[i];
  }
  return table;
}

/// "2 columns left out: seed, origin; --wide shows all", on as many lines as it takes.
void read_note(const std::string& text, std::vector<std::string>& titles) {
  constexpr std::string_view kBefore = " left out: ", kAfter = "; --wide shows all";
  for (std::size_t at = 0; (at = text.find(kBefore, at)) != std::string::npos;) {
    at += kBefore.size();
    std::istringstream list(text.substr(at, text.find(kAfter, at) - at));
    for (std::string title; std::getline(list, title, ',');)
      titles.push_back(without_spaces(title));
  }
}

}  // namespace

Page read_page(const std::string& text) {
  Page page;
  std::vector<std::string> lines, rows;
  std::istringstream stream(text);
  std::string prose;  // what is not a table, in one line
  for (std::string line; std::getline(stream, line);) {
    page.widest_line = std::max(page.widest_line, display_width(line));
    lines.push_back(line);
    if (!line.starts_with("|")) prose += (prose.empty() ? "" : " ") + line;
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!is_rule(lines[i])) continue;
    std::size_t first = i, end = i + 1;
    while (first > 0 && lines[first - 1].starts_with("|")) --first;
    while (end < lines.size() && lines[end].starts_with("|")) ++end;
    const auto at = [&](std::size_t place) {
      return lines.begin() + static_cast<std::ptrdiff_t>(place);
    };
    page.tables.push_back(table_of({at(first), at(i)}, lines[i], {at(i + 1), at(end)}));
  }
  read_note(prose, page.left_out);
  return page;
}

}  // namespace gradwire::testing
