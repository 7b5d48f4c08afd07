#include "results/points/unit_columns.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/options.h"
#include "base/units.h"

namespace gradwire::results {
namespace {

/// Ways to write a unit that base/units.h does not have.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kAliases = {
    {{"bytes", "B"},
     {"seconds", "s"},
     {"sec", "s"},
     {"GB/s", "GBps"},
     {"MB/s", "MBps"},
     {"B/s", "Bps"},
     {"Gbit/s", "Gbps"},
     {"Mbit/s", "Mbps"},
     {"kbit/s", "kbps"},
     {"bit/s", "bps"}}};

std::string unit_of(std::string_view text) {
  for (const auto& [alias, unit] : kAliases)
    if (alias == text) return std::string(unit);
  return std::string(text);
}

double parsed(Dimension dimension, const std::string& text) {
  if (dimension == Dimension::kTime) return parse_duration(text).value();
  if (dimension == Dimension::kRate) return parse_rate(text).value() / 8;
  return static_cast<double>(parse_bytes(text).count());
}

bool has_unit(Dimension dimension) {
  return dimension == Dimension::kTime || dimension == Dimension::kRate ||
         dimension == Dimension::kBytes;
}

std::string example_unit(Dimension dimension) {
  return dimension == Dimension::kTime ? "ms" : dimension == Dimension::kRate ? "Gbps" : "MB";
}

bool is_unit(Dimension dimension, const std::string& unit) {
  if (dimension == Dimension::kShare) return unit == "%";
  if (!has_unit(dimension)) return false;
  try {
    parsed(dimension, "1" + unit);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// "delay (us)" and "delay [us]".
bool split_brackets(const std::string& title, std::string& name, std::string& unit) {
  const auto open = title.find_first_of("([");
  if (open == std::string::npos || open == 0) return false;
  if (title.back() != ')' && title.back() != ']') return false;
  name = title.substr(0, title.find_last_not_of(" _", open - 1) + 1);
  unit = title.substr(open + 1, title.size() - open - 2);
  return true;
}

/// The number at the beginning of a text; what follows is left in `rest`.
std::optional<double> number_of(std::string_view text, std::string_view& rest) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<double> flag_of(const std::string& text) {
  if (text == "true" || text == "yes" || text == "1") return 1;
  if (text == "false" || text == "no" || text == "0") return 0;
  return std::nullopt;
}

}  // namespace

UnitColumns::UnitColumns(const CsvTable& table, std::span<const UnitColumn> known) : table_(table) {
  const auto titles = table.columns();
  if (titles.size() == 1 && titles[0].find_first_of(" |") != std::string::npos)
    throw Error(ErrorKind::kFailure, "read", table.file(), "nothing separates its columns",
                "separate them by commas, semicolons or tabs");
  for (const std::string& title : titles) find(title, known);
}

void UnitColumns::find(const std::string& title, std::span<const UnitColumn> known) {
  std::vector<std::string> names;
  std::string list;
  for (const UnitColumn& column : known) {
    const std::string name(column.name);
    names.push_back(name);
    list += (list.empty() ? "" : ", ") + name;
    std::string stem = title, unit;
    if (title != name && !split_brackets(title, stem, unit) && title.starts_with(name + "_"))
      stem = name, unit = title.substr(name.size() + 1);
    if (stem != name) continue;
    unit = unit_of(unit);
    if (!unit.empty() && !is_unit(column.dimension, unit))
      throw Error(ErrorKind::kFailure, "read", table_.file() + ": " + title,
                  "\"" + unit + "\" is no unit of " + name,
                  has_unit(column.dimension) ? "for example delay_us, message_MB, bandwidth_Gbps"
                                             : "it has none");
    if (!found_.emplace(name, Found{title, unit, column.dimension}).second)
      throw Error(ErrorKind::kFailure, "read", table_.file(), "two columns say " + name);
    return;
  }
  std::string stem = title, unit;
  split_brackets(title, stem, unit);
  const std::string near = nearest_name(stem, names);
  throw Error(ErrorKind::kFailure, "read", table_.file(),
              "nobody knows the column \"" + title + "\"",
              near.empty() ? "columns: " + list : "did you mean \"" + near + "\"?");
}

std::string UnitColumns::text(std::size_t row, std::string_view name) const {
  const auto found = found_.find(std::string(name));
  return found == found_.end() ? "" : table_.text(row, found->second.title);
}

std::optional<double> UnitColumns::value(std::size_t row, std::string_view name) const {
  const std::string cell = text(row, name);
  if (cell.empty()) return std::nullopt;
  const Found& column = found_.at(std::string(name));
  if (column.dimension == Dimension::kFlag) {
    const auto flag = flag_of(cell);
    if (!flag) refuse(row, name, "\"" + cell + "\" is neither true nor false");
    return flag;
  }
  std::string_view rest;
  const auto number = number_of(cell, rest);
  if (!number) refuse(row, name, "\"" + cell + "\" is no number");
  if (rest.starts_with(','))
    refuse(row, name, "\"" + cell + "\" has a comma in its number",
           "write decimals behind a point, and thousands without a mark");
  if (*number < 0) refuse(row, name, cell + " is below 0");
  const Cell given{row, name, cell, *number, rest};
  if (has_unit(column.dimension)) return with_unit(given, column);
  return column.dimension == Dimension::kShare ? share(given, column) : plain(given, column);
}

double UnitColumns::with_unit(const Cell& cell, const Found& column) const {
  if (!column.unit.empty() && !cell.rest.empty())
    refuse(cell.row, cell.name, "\"" + cell.text + "\" has a unit, and so has the column's name",
           "leave one of them");
  if (cell.rest.empty() && column.unit.empty())
    refuse(cell.row, cell.name, "\"" + cell.text + "\" has no unit",
           "write it in the cell or in the column's name: " + column.title + "_" +
               example_unit(column.dimension));
  try {
    return parsed(column.dimension, cell.text + column.unit);
  } catch (const Error& problem) {
    refuse(cell.row, cell.name, problem.what());
  }
}

double UnitColumns::share(const Cell& cell, const Found& column) const {
  if (!cell.rest.empty() && cell.rest != "%")
    refuse(cell.row, cell.name, "\"" + cell.text + "\" is no share", "0.01 or 1%");
  const bool percent = column.unit == "%" || cell.rest == "%";
  const double share = percent ? cell.number / 100 : cell.number;
  if (share > 1) refuse(cell.row, cell.name, cell.text + " is more than all", "0.01 or 1%");
  return share;
}

double UnitColumns::plain(const Cell& cell, const Found& column) const {
  if (!cell.rest.empty())
    refuse(cell.row, cell.name, "\"" + cell.text + "\" is no number", "it has no unit");
  if (cell.number == 0) refuse(cell.row, cell.name, "0 is not above 0");
  const bool whole = cell.number == std::floor(cell.number) && cell.number <= 1e7;
  if (column.dimension == Dimension::kCount && !whole)
    refuse(cell.row, cell.name, cell.text + " is no whole number from 1 to 10,000,000");
  return cell.number;
}

void UnitColumns::refuse(std::size_t row, std::string_view name, const std::string& reason,
                         const std::string& remedy) const {
  const auto found = found_.find(std::string(name));
  table_.refuse(row, found == found_.end() ? std::string(name) : found->second.title, reason,
                remedy);
}

}  // namespace gradwire::results
