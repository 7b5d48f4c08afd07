#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Tables that people hand in: a header line, one row a line, cells optionally in double quotes
/// (doubled inside), comment lines that start with #. Commas, semicolons or tabs separate the
/// cells: what stands most often in the header line. Errors name file, line, column.
namespace gradwire::results {

/// A cell as RFC 4180 wants it: in quotes where it holds a comma, a quote or the end of a line.
std::string csv_quoted(const std::string& text);
/// A line of such cells, with its end; control characters are written out (printable()).
std::string csv_line(const std::vector<std::string>& cells);

class CsvTable {
 public:
  /// Throws Error: no header, a column twice, a row with too many or too few cells, an open quote,
  /// UTF-16.
  CsvTable(std::string_view bytes, std::string file);

  const std::string& file() const { return file_; }
  const std::string& comment() const { return comment_; }  ///< without the #, lines joined
  std::size_t rows() const { return cells_.size(); }
  std::vector<std::string> columns() const;  ///< in alphabetical order
  int line(std::size_t row) const { return lines_[row]; }
  bool has(const std::string& column) const { return columns_.count(column) != 0; }

  /// Throws Error naming the columns that are missing or that nobody knows, with the nearest name.
  void expect(const std::vector<std::string>& required,
              const std::vector<std::string>& optional) const;
  /// Empty where the table has no such column.
  const std::string& text(std::size_t row, const std::string& column) const;
  /// A finite number above 0; `missing` where the cell is empty or the column is not there.
  double positive(std::size_t row, const std::string& column) const;
  double positive(std::size_t row, const std::string& column, double missing) const;
  /// Throws Error about a cell.
  [[noreturn]] void refuse(std::size_t row, const std::string& column, const std::string& reason,
                           const std::string& remedy = {}) const;

 private:
  void add_line(std::string_view line, int number);

  std::string file_;
  char separator_ = ',';
  std::string comment_;
  std::map<std::string, std::size_t> columns_;
  std::vector<std::vector<std::string>> cells_;
  std::vector<int> lines_;  ///< [rows] in the file, from 1
};

}  // namespace gradwire::results
