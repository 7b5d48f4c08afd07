#include "base/text_width.h"

#include <algorithm>
#include <cctype>

namespace gradwire {
namespace {

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

/// Whether a line may end between two characters of a word, `text[at - 1]` and `text[at]`.
bool may_break_word(std::string_view text, std::size_t at) {
  const char before = text[at - 1], after = text[at];
  if (after == '/') return before != '/' && before != ' ' && before != ':';
  if (before == '-' || before == '.') return at > 1 && is_letter(text[at - 2]) && is_letter(after);
  return std::string_view(",;=_").find(before) != std::string_view::npos && after != ' ';
}

bool ends_word(std::string_view text, std::size_t at) {
  return text[at - 1] == ' ' && text[at] != ' ';
}

/// The text cut at each place that `may_break` allows.
template <class MayBreak>
std::vector<std::string_view> cut(std::string_view text, MayBreak may_break) {
  std::vector<std::string_view> pieces;
  std::size_t start = 0;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (!may_break(text, at)) continue;
    pieces.push_back(text.substr(start, at - start));
    start = at;
  }
  if (start < text.size()) pieces.push_back(text.substr(start));
  return pieces;
}

std::string_view without_trailing_spaces(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

/// Bytes of the first `width` columns of `text`.
std::size_t bytes_of_columns(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  while (at < text.size() && width-- > 0) {
    ++at;
    while (at < text.size() && (text[at] & 0xC0) == 0x80) ++at;
  }
  return at;
}

/// Puts pieces into lines of at most `width` columns.
class Lines {
 public:
  Lines(std::size_t width, std::vector<std::string>& lines) : width_(width), lines_(lines) {}
  void add_word(std::string_view word) {
    if (width_of(word) <= width_) return add_piece(word);
    for (const std::string_view piece : cut(word, may_break_word)) add_piece(piece);
  }
  void end_line() {
    lines_.emplace_back(without_trailing_spaces(line_));
    line_.clear();
  }

 private:
  static std::size_t width_of(std::string_view text) {
    return display_width(without_trailing_spaces(text));
  }
  void add_piece(std::string_view piece) {
    if (!line_.empty() && display_width(line_) + width_of(piece) > width_) end_line();
    while (width_of(piece) > width_) {
      const std::size_t bytes = bytes_of_columns(piece, width_);
      line_ = piece.substr(0, bytes);
      piece.remove_prefix(bytes);
      end_line();
    }
    line_ += piece;
  }

  std::size_t width_;
  std::vector<std::string>& lines_;
  std::string line_;
};

/// Lines of a text without line ends.
void wrap_line(std::string_view text, std::size_t width, std::vector<std::string>& lines) {
  Lines out(width, lines);
  for (const std::string_view word : cut(text, ends_word)) out.add_word(word);
  out.end_line();
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  for (;;) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (width == 0)
      lines.emplace_back(line);
    else
      wrap_line(line, width, lines);
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

std::size_t widest_piece(std::string_view text) {
  std::size_t widest = 0;
  for (const std::string_view word : cut(text, ends_word))
    for (const std::string_view piece : cut(word, may_break_word))
      widest = std::max(widest, display_width(without_trailing_spaces(piece)));
  return widest;
}

}  // namespace gradwire
