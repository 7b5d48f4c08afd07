#include "cli/output/table_layout.h"

#include <algorithm>

#include "base/joined_texts.h"
#include "base/text_width.h"

namespace gradwire::cli {
namespace {

constexpr std::size_t kLeastWidth = 3;     ///< of a rule, "---"
constexpr std::size_t kShortCell = 14;     ///< texts up to here are not broken
constexpr std::size_t kNarrowText = 18;    ///< texts above are broken to lines of this at the least
constexpr std::size_t kLongestPiece = 26;  ///< a longer one may be broken anywhere

using Rows = std::vector<std::vector<std::string>>;

/// Widths that a column may have: below `least` it is not legible; at `body` its cells, and at
/// `full` its title too, take one line.
struct Range {
  std::size_t least = kLeastWidth, body = kLeastWidth, full = kLeastWidth;
  bool empty = true;  ///< says nothing in any row
};

Range range_of(const LayoutColumn& column, const Rows& rows, std::size_t at) {
  Range range;
  std::size_t pieces = 0;
  for (const auto& row : rows) {
    range.empty = range.empty && (row[at] == "-" || row[at].empty());
    for (const std::string& line : wrapped(row[at], 0)) {
      range.body = std::max(range.body, display_width(line));
      pieces = std::max(pieces, widest_piece(line));
    }
  }
  const bool breaks = !column.unbroken && range.body > kShortCell;
  range.least = breaks
                    ? std::min(range.body, std::max(kNarrowText, std::min(pieces, kLongestPiece)))
                    : range.body;
  range.least = std::max(range.least, std::min(widest_piece(column.title), kLongestPiece));
  range.body = std::max(range.body, range.least);
  range.full = std::max(range.body, display_width(column.title));
  return range;
}

/// Which columns are shown, and how wide each is.
class Fit {
 public:
  Fit(const std::vector<LayoutColumn>& columns, const Rows& rows, std::size_t page)
      : columns_(columns), page_(page) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      ranges_.push_back(range_of(columns[i], rows, i));
      shown_.push_back(i);
    }
    if (page_ == 0 || taken(&Range::full) <= page_)
      set_widths(&Range::full);
    else
      fit_to_page();
  }

  const std::vector<std::size_t>& shown() const { return shown_; }
  std::size_t width(std::size_t column) const { return widths_[column]; }

 private:
  void fit_to_page() {
    while (taken(&Range::least) > page_ && shown_.size() > 1) leave_out();
    set_widths(&Range::least);
    squeeze();
    grow(&Range::body);
    grow(&Range::full);
  }

  /// "| " before each cell, " " after it, "|" at the end.
  static std::size_t frame(std::size_t columns) { return 3 * columns + 1; }

  std::size_t taken(std::size_t Range::*width) const {
    std::size_t sum = frame(shown_.size());
    for (const std::size_t i : shown_) sum += ranges_[i].*width;
    return sum;
  }
  std::size_t taken() const {
    std::size_t sum = frame(shown_.size());
    for (const std::size_t i : shown_) sum += widths_[i];
    return sum;
  }

  void set_widths(std::size_t Range::*width) {
    for (const Range& range : ranges_) widths_.push_back(range.*width);
  }

  /// The column that is missed least: one without any value, then by importance, then the last.
  void leave_out() {
    const auto rank = [&](std::size_t i) {
      const bool empty = ranges_[i].empty && columns_[i].importance != Importance::kKey;
      return empty ? 1 + static_cast<int>(Importance::kLow)
                   : static_cast<int>(columns_[i].importance);
    };
    auto least = shown_.begin() + 1;
    for (auto it = least; it != shown_.end(); ++it)
      if (rank(*it) >= rank(*least)) least = it;
    shown_.erase(least);
  }

  /// One column that is wider than the page.
  void squeeze() {
    if (shown_.size() == 1 && taken() > page_)
      widths_[shown_[0]] = std::max(kLeastWidth, page_ - std::min(page_, frame(1)));
  }

  /// Shares what room is left, a character to each column in turn.
  void grow(std::size_t Range::*limit) {
    for (std::size_t room = page_ - std::min(page_, taken()); room > 0;) {
      const std::size_t before = room;
      for (const std::size_t i : shown_)
        if (room > 0 && widths_[i] < ranges_[i].*limit) ++widths_[i], --room;
      if (room == before) return;
    }
  }

  const std::vector<LayoutColumn>& columns_;
  std::size_t page_;
  std::vector<Range> ranges_;
  std::vector<std::size_t> shown_, widths_;
};

/// One row, in as many lines as its highest cell has.
std::string row_text(const std::vector<LayoutColumn>& columns, const std::vector<std::string>& row,
                     const Fit& fit) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (const std::size_t i : fit.shown()) {
    cells.push_back(wrapped(row[i], fit.width(i)));
    height = std::max(height, cells.back().size());
  }
  std::string out;
  for (std::size_t line = 0; line < height; ++line) {
    for (std::size_t place = 0; place < cells.size(); ++place) {
      const std::size_t i = fit.shown()[place];
      const std::string cell = line < cells[place].size() ? cells[place][line] : std::string();
      const std::string space(fit.width(i) - std::min(fit.width(i), display_width(cell)), ' ');
      out += "| " + (columns[i].right ? space + cell : cell + space) + " ";
    }
    out += "|\n";
  }
  return out;
}

std::string rule(const std::vector<LayoutColumn>& columns, const Fit& fit) {
  std::string out;
  for (const std::size_t i : fit.shown())
    out += "|" + std::string(fit.width(i) + 1, '-') + (columns[i].right ? ":" : "-");
  return out + "|\n";
}

}  // namespace

Layout lay_out(const std::vector<LayoutColumn>& columns, const Rows& rows, std::size_t width) {
  if (columns.empty()) return {};
  const Fit fit(columns, rows, width);
  std::vector<std::string> titles;
  for (const LayoutColumn& column : columns) titles.push_back(column.title);
  Layout layout;
  layout.head = row_text(columns, titles, fit);
  layout.body = rule(columns, fit);
  for (const auto& row : rows) layout.body += row_text(columns, row, fit);
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (std::find(fit.shown().begin(), fit.shown().end(), i) == fit.shown().end())
      layout.left_out.push_back(columns[i].title);
  return layout;
}

std::string left_out_note(const std::vector<std::string>& left_out, std::size_t width) {
  if (left_out.empty()) return {};
  const std::string note = std::to_string(left_out.size()) +
                           (left_out.size() == 1 ? " column" : " columns") +
                           " left out: " + joined_texts(left_out, ", ") + "; --wide shows all";
  std::string out;
  for (const std::string& line : wrapped(note, width)) out += line + "\n";
  return out;
}

}  // namespace gradwire::cli
