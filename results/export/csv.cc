#include "results/export/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/joined_texts.h"
#include "base/options.h"
#include "base/plain_text.h"

namespace gradwire::results {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// What stands most often in a header line, outside of quotes; of equally frequent ones the first.
char separator_of(std::string_view header) {
  constexpr std::string_view kSeparators = ",;\t";
  std::ptrdiff_t counts[kSeparators.size()] = {};
  bool quoted = false;
  for (const char letter : header) {
    if (letter == '"') quoted = !quoted;
    const auto found = kSeparators.find(letter);
    if (!quoted && found != std::string_view::npos) ++counts[found];
  }
  return kSeparators[static_cast<std::size_t>(std::ranges::max_element(counts) - counts)];
}

/// The cells of a line; false where a quote stays open.
bool split(std::string_view line, char separator, std::vector<std::string>& cells) {
  std::string cell;
  bool quoted = false, was_quoted = false;
  const auto finish = [&] {
    cells.emplace_back(was_quoted ? std::string_view(cell) : trimmed(cell));
    cell.clear();
    was_quoted = false;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      cell += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
      was_quoted = true;
    } else if (c == separator && !quoted) {
      finish();
    } else {
      cell += c;
    }
  }
  finish();
  return !quoted;
}

std::string at_line(const std::string& file, int line) {
  return file + ":" + std::to_string(line);
}

[[noreturn]] void refuse_file(const std::string& where, const std::string& reason,
                              const std::string& remedy = {}) {
  throw Error(ErrorKind::kFailure, "read", where, reason, remedy);
}

}  // namespace

std::string csv_quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char letter : text) out += letter == '"' ? "\"\"" : std::string(1, letter);
  return out + "\"";
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i)
    line += (i > 0 ? "," : "") + csv_quoted(printable(cells[i]));
  return line + "\r\n";
}

CsvTable::CsvTable(std::string_view bytes, std::string file) : file_(std::move(file)) {
  const std::string lines = text_in_lines(bytes, file_);
  std::string_view text = lines;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    add_line(text.substr(0, end), number);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  if (columns_.empty()) refuse_file(file_, "it has no header line");
  if (cells_.empty()) refuse_file(file_, "it has no row below its header");
}

void CsvTable::add_line(std::string_view line, int number) {
  const std::string_view whole = line.substr(0, line.find_last_not_of('\r') + 1);
  line = trimmed(line);
  if (line.empty()) return;
  if (line.front() == '#') {
    comment_ += (comment_.empty() ? "" : " ") + std::string(trimmed(line.substr(1)));
    return;
  }
  std::vector<std::string> cells;
  if (columns_.empty()) separator_ = separator_of(line);
  if (separator_ == '\t' && !columns_.empty()) line = whole;  // a tab at its end: an empty cell
  if (!split(line, separator_, cells)) refuse_file(at_line(file_, number), "a quote stays open");
  if (columns_.empty()) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (!columns_.emplace(cells[i], i).second)
        refuse_file(at_line(file_, number), "the column " + cells[i] + " stands there twice");
    return;
  }
  if (cells.size() != columns_.size())
    refuse_file(at_line(file_, number), std::to_string(cells.size()) + " cells under " +
                                            std::to_string(columns_.size()) + " columns");
  cells_.push_back(std::move(cells));
  lines_.push_back(number);
}

std::vector<std::string> CsvTable::columns() const {
  std::vector<std::string> names;
  for (const auto& [name, index] : columns_) names.push_back(name);
  return names;
}

void CsvTable::expect(const std::vector<std::string>& required,
                      const std::vector<std::string>& optional) const {
  std::vector<std::string> known = required;
  known.insert(known.end(), optional.begin(), optional.end());
  const std::string list = joined_texts(known, ", ");
  for (const auto& [name, index] : columns_) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = nearest_name(name, known);
    refuse_file(file_, "nobody knows the column \"" + name + "\"",
                near.empty() ? "columns: " + list : "did you mean \"" + near + "\"?");
  }
  for (const std::string& name : required)
    if (!has(name)) refuse_file(file_, "the column " + name + " is missing", "columns: " + list);
}

const std::string& CsvTable::text(std::size_t row, const std::string& column) const {
  static const std::string none;
  const auto found = columns_.find(column);
  return found == columns_.end() ? none : cells_[row][found->second];
}

double CsvTable::positive(std::size_t row, const std::string& column) const {
  const std::string& cell = text(row, column);
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size())
    refuse(row, column, "\"" + cell + "\" is no number", "units stand in the column's name");
  if (!std::isfinite(value) || value <= 0) refuse(row, column, cell + " is not above 0");
  return value;
}

double CsvTable::positive(std::size_t row, const std::string& column, double missing) const {
  return text(row, column).empty() ? missing : positive(row, column);
}

void CsvTable::refuse(std::size_t row, const std::string& column, const std::string& reason,
                      const std::string& remedy) const {
  refuse_file(at_line(file_, lines_[row]) + ": " + column, reason, remedy);
}

}  // namespace gradwire::results
