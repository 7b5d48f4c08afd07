#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

/// Reads the tables of the program's text output, folded or not.
namespace gradwire::testing {

/// A table by its titles; cells without spaces and line ends, so that a folded one compares with a
/// whole one. Columns of one title are kept apart by their number ("times fp32#2").
struct PageTable {
  std::vector<std::string> titles;
  std::map<std::string, std::string> cells;  ///< of a column, one after the other
  std::set<std::string> right;               ///< titles of columns that are aligned to the right
};

struct Page {
  std::vector<PageTable> tables;
  std::vector<std::string> left_out;  ///< titles, from the lines below tables
  std::size_t widest_line = 0;
};

Page read_page(const std::string& text);

}  // namespace gradwire::testing
