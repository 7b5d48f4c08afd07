#include "results/points/log_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/plain_text.h"

namespace gradwire::results {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// Bytes of the escape sequence (ECMA-48) that begins at `at`: "ESC [ 0 m", "ESC ] title BEL",
/// "ESC ( B".
std::size_t escape_length(std::string_view text, std::size_t at) {
  const auto stops = [&](std::size_t i) { return i >= text.size() || text[i] == '\n'; };
  std::size_t end = at + 1;
  if (!stops(end) && text[end] == ']') {
    while (!stops(end) && text[end] != '\a' && text[end] != '\x1B') ++end;
  } else {
    const bool control = !stops(end) && text[end] == '[';
    if (control) ++end;
    while (!stops(end) && text[end] >= 0x20 && text[end] < (control ? 0x40 : 0x30)) ++end;
  }
  const bool whole = stops(end) || text[end] == '\x1B';
  return end + (whole ? 0 : 1) - at;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!(text = trimmed(text)).empty()) {
    const auto end = std::min(text.find_first_of(kBlank), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

}  // namespace

std::string plain_log(std::string_view bytes, const std::string& file) {
  const std::string text = text_in_lines(bytes, file);
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t escape = std::min(text.find('\x1B', at), text.size());
    plain.append(text, at, escape - at);
    at = escape < text.size() ? escape + escape_length(text, escape) : escape;
  }
  return plain;
}

std::vector<LogLine> log_lines(std::string_view text) {
  std::vector<LogLine> lines;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    LogLine line{number, trimmed(text.substr(0, end)), {}};
    line.words = words_of(line.text);
    if (!line.words.empty()) lines.push_back(std::move(line));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

std::optional<double> number_of(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  if (!std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

std::string log_place(const std::string& file, int line) {
  return line > 0 ? file + ":" + std::to_string(line) : file;
}

void refuse_log(const std::string& file, int line, const std::string& reason,
                const std::string& remedy) {
  throw Error(ErrorKind::kFailure, "read the log", log_place(file, line), reason, remedy);
}

}  // namespace gradwire::results
