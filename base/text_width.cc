#include "base/text_width.h"

#include <algorithm>
#include <cctype>

namespace gradwire {
namespace {

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

/// Whether a line may end between `text[at - 1]` and `text[at]`.
bool may_break(std::string_view text, std::size_t at) {
  const char before = text[at - 1], after = text[at];
  if (before == ' ') return after != ' ';
  if (after == '/') return before != '/' && before != ' ' && before != ':';
  if (before == '-') return at > 1 && is_letter(text[at - 2]) && is_letter(after);
  return std::string_view(",;=_").find(before) != std::string_view::npos && after != ' ';
}

/// Pieces that stay together; their spaces at the end are theirs.
std::vector<std::string_view> pieces_of(std::string_view text) {
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

/// Lines of a text without line ends.
void wrap_line(std::string_view text, std::size_t width, std::vector<std::string>& lines) {
  std::string line;
  const auto end_line = [&] {
    lines.emplace_back(without_trailing_spaces(line));
    line.clear();
  };
  for (std::string_view piece : pieces_of(text)) {
    const std::size_t needed = display_width(without_trailing_spaces(piece));
    if (!line.empty() && display_width(line) + needed > width) end_line();
    while (display_width(without_trailing_spaces(piece)) > width) {
      const std::size_t bytes = bytes_of_columns(piece, width);
      line = piece.substr(0, bytes);
      piece.remove_prefix(bytes);
      end_line();
    }
    line += piece;
  }
  end_line();
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
  for (const std::string_view piece : pieces_of(text))
    widest = std::max(widest, display_width(without_trailing_spaces(piece)));
  return widest;
}

}  // namespace gradwire
