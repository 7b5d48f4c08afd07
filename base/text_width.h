#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Text of fixed-width characters: how many columns it takes, and where it may be broken.
namespace gradwire {

/// Columns on a terminal, not bytes: UTF-8 continuation bytes take none.
std::size_t display_width(std::string_view text);

/// Lines of at most `width` columns (0 = only where the text has line ends). Breaks at spaces,
/// which it drops; inside a word only where it is wider than a line: before '/', after ',' ';' '='
/// '_' and after '-' and '.' between letters, else anywhere.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// The widest piece of `text` that `wrapped` keeps together.
std::size_t widest_piece(std::string_view text);

}  // namespace gradwire
