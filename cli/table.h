#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "cli/context.h"

namespace gradwire::cli {

/// A cell; monostate = not known. Numbers keep full precision in JSON and CSV.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct Column {
  std::string name;        ///< JSON and CSV field name, with its unit: step_time_s
  std::string title = {};  ///< heading for people; empty = name
  /// How a number is shown in text: a duration, bytes, a per cent value, or plain.
  enum class Style { kPlain, kDuration, kBytes, kPercent } style = Style::kPlain;
};

/// Rows for stdout in the format the user asked for: a Markdown table, one JSON document
/// `{"schema_version":1,"rows":[...]}`, JSON lines or CSV.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> row);
  std::size_t size() const { return rows_.size(); }
  std::string text() const;
  std::string render(Format format) const;
  /// To stdout. `line_type`: the "type" member of JSON lines.
  void print(const Context& context, const std::string& line_type = "row") const;

 private:
  std::string json_row(std::size_t row, const std::string& line_type) const;
  std::string csv() const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace gradwire::cli
