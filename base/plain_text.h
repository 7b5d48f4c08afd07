#pragma once
#include <string>
#include <string_view>
#include <vector>

/// Texts that others wrote, on their way to a terminal or a file.
namespace gradwire {

/// Whether it is well-formed UTF-8 (RFC 3629).
bool is_utf8(std::string_view text);

/// Whether it has a control character (C0, DEL, C1, or one that turns the direction of text): line
/// ends and tabs are such.
bool has_control(std::string_view text);

/// The text with what moves a cursor or rings a bell written out: control characters other than
/// line ends and tabs, and bytes that are no UTF-8, become \xNN.
std::string printable(std::string_view text);

/// A text file's bytes as lines that end in \n: without a byte order mark; \r alone ends a line
/// where no \n stands. Throws Error that names `file`: UTF-16, or bytes that are no text.
std::string text_in_lines(std::string_view bytes, const std::string& file);

/// Cuts the whole lines off the front of `text`, without their ends; what has no end yet stays.
std::vector<std::string> take_lines(std::string& text);

/// Cuts the first line off the front of `text` and gives it, without its end: LF, CR LF or CR.
std::string_view take_line(std::string_view& text);

/// "UTF-16" or "UTF-32" where a text begins with the mark of it, or as Latin letters do there, with
/// every other byte 0; else empty.
std::string_view wide_encoding(std::string_view text);

}  // namespace gradwire
