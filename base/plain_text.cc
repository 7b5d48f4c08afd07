#include "base/plain_text.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"

namespace gradwire {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

/// Bytes of the character that begins at `at`; 0 where none does.
std::size_t length_at(std::string_view text, std::size_t at) {
  const unsigned first = byte_at(text, at);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xC2   ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || at + length > text.size()) return 0;
  // Overlong forms, surrogates, and what is beyond U+10FFFF are told by the second byte.
  const unsigned second = byte_at(text, at + 1);
  const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (second < least || second > most) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if ((byte_at(text, at + i) & 0xC0) != 0x80) return 0;
  return length;
}

/// Characters that turn the direction of what follows: U+202A to U+202E, U+2066 to U+2069.
bool turns_text(std::string_view text, std::size_t at) {
  const unsigned second = byte_at(text, at + 1), third = byte_at(text, at + 2);
  return byte_at(text, at) == 0xE2 && ((second == 0x80 && third >= 0xAA && third <= 0xAE) ||
                                       (second == 0x81 && third >= 0xA6 && third <= 0xA9));
}

/// Of a character of that length.
bool is_control(std::string_view text, std::size_t at, std::size_t length) {
  const unsigned first = byte_at(text, at);
  if (length == 3) return turns_text(text, at);
  return length == 1 ? first < 0x20 || first == 0x7F
                     : length == 2 && first == 0xC2 && byte_at(text, at + 1) < 0xA0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = length_at(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

bool has_control(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = length_at(text, at);
    if (length > 0 && is_control(text, at, length)) return true;
    at += length > 0 ? length : 1;
  }
  return false;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = length_at(text, at), bytes = length > 0 ? length : 1;
    const bool stays = text[at] == '\n' || text[at] == '\t';
    if (length > 0 && (stays || !is_control(text, at, length))) {
      out.append(text, at, bytes);
    } else {
      for (std::size_t i = 0; i < bytes; ++i) {
        char code[8];
        std::snprintf(code, sizeof code, "\\x%02X", byte_at(text, at + i));
        out += code;
      }
    }
    at += bytes;
  }
  return out;
}

std::string text_in_lines(std::string_view bytes, const std::string& file) {
  if (const std::string wide(wide_encoding(bytes)); !wide.empty())
    throw Error(ErrorKind::kFailure, "read", file, "its text is " + wide,
                "write it as UTF-8: iconv -f " + wide + " -t UTF-8, or PowerShell's " +
                    "Out-File -Encoding utf8");
  const std::size_t nul = bytes.find('\0');
  if (nul != std::string_view::npos)
    throw Error(
        ErrorKind::kFailure, "read",
        file + ":" + std::to_string(1 + std::count(bytes.begin(), bytes.begin() + nul, '\n')),
        "byte " + std::to_string(nul) + " is 0: it is no text, or was damaged",
        "give the text as the program wrote it");
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  std::string text(bytes);
  if (text.find('\n') == std::string::npos) std::replace(text.begin(), text.end(), '\r', '\n');
  return text;
}

std::vector<std::string> take_lines(std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  text.erase(0, begin);
  return lines;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end);
  if (text.starts_with("\r\n"))
    text.remove_prefix(2);
  else if (!text.empty())
    text.remove_prefix(1);
  return line;
}

std::string_view wide_encoding(std::string_view text) {
  using namespace std::string_view_literals;
  if (text.starts_with("\xFF\xFE\0\0"sv) || text.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (text.starts_with("\xFF\xFE"sv) || text.starts_with("\xFE\xFF"sv)) return "UTF-16";
  if (text.size() < 4) return {};
  const bool little = text[1] == 0 && text[3] == 0, big = text[0] == 0 && text[2] == 0;
  return little != big && (little ? text[0] != 0 && text[2] != 0 : text[1] != 0 && text[3] != 0)
             ? "UTF-16"
             : std::string_view();
}

}  // namespace gradwire
