#pragma once
#include <string>
#include <vector>

/// Lays a table of texts out on a page of a given width. Nothing is lost silently: long cells go on
/// in further lines, and a column that has no room is named below the table.
namespace gradwire::cli {

/// What a table loses first on a narrow page. Of equal importance, columns on the right go first.
enum class Importance {
  kKey,     ///< stays as long as any column does: what tells rows apart, and the answer
  kHigh,    ///< what most people look at
  kNormal,  ///< the default
  kLow,     ///< what few people need, or what is the same in most rows
};

struct LayoutColumn {
  std::string title;
  Importance importance = Importance::kNormal;
  bool right = false;     ///< aligned to the right
  bool unbroken = false;  ///< a cell takes one line
};

struct Layout {
  std::string head;                   ///< the titles
  std::string body;                   ///< from the rule below them
  std::vector<std::string> left_out;  ///< titles
};

/// A Markdown table. `width`: columns of the page, 0 = as wide as it comes. What a cell does not
/// hold is "-".
Layout lay_out(const std::vector<LayoutColumn>& columns,
               const std::vector<std::vector<std::string>>& rows, std::size_t width);

/// "2 columns left out: seed, origin; --wide shows all", broken to `width`; empty if none is.
std::string left_out_note(const std::vector<std::string>& left_out, std::size_t width);

}  // namespace gradwire::cli
