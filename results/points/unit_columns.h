#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/export/csv.h"

/// Tables whose numbers have units: in the column's name ("delay_us", "bandwidth (Gbps)"), or in
/// each cell ("10Gbps") where the name has none. A bare number without any is refused.
namespace gradwire::results {

enum class Dimension {
  kText,
  kFlag,    ///< true, false, yes, no, 1, 0
  kNumber,  ///< above 0, without unit
  kCount,   ///< a whole number of 1 or more
  kShare,   ///< 0 to 1, or "0.5%" (a column "... (%)")
  kTime,    ///< s
  kBytes,
  kRate,  ///< given in bits or bytes per second; B/s
};

struct UnitColumn {
  std::string_view name;
  Dimension dimension;
};

class UnitColumns {
 public:
  /// Refers to the table and to the columns that are known. Throws Error for others (with the
  /// nearest name), for one that stands there with two units, and for an unknown unit.
  UnitColumns(const CsvTable& table, std::span<const UnitColumn> known);

  const CsvTable& table() const { return table_; }
  bool has(std::string_view name) const { return found_.count(std::string(name)) != 0; }
  /// Empty where there is no such column or its cell is empty.
  std::string text(std::size_t row, std::string_view name) const;
  /// In base units; nothing where `text` is empty. Throws Error with line and column.
  std::optional<double> value(std::size_t row, std::string_view name) const;
  [[noreturn]] void refuse(std::size_t row, std::string_view name, const std::string& reason,
                           const std::string& remedy = {}) const;

 private:
  struct Found {
    std::string title;  ///< as it stands in the table
    std::string unit;   ///< empty = in the cells
    Dimension dimension = Dimension::kText;
  };
  void find(const std::string& title, std::span<const UnitColumn> known);
  /// A cell's value: its number, and what stands behind that.
  struct Cell {
    std::size_t row;
    std::string_view name;
    std::string text;
    double number;
    std::string_view rest;
  };
  double with_unit(const Cell& cell, const Found& column) const;
  double share(const Cell& cell, const Found& column) const;
  double plain(const Cell& cell, const Found& column) const;

  const CsvTable& table_;
  std::map<std::string, Found> found_;
};

}  // namespace gradwire::results
