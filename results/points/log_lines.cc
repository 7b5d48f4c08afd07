#include "results/points/log_lines.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/error.h"

namespace gradwire::results {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// mpirun --tag-output writes "[1,0]<stdout>:", srun --label "0: ".
std::string_view without_label(std::string_view line) {
  const auto tag = line.find(">:");
  if (line.starts_with('[') && tag != std::string_view::npos && tag < 64)
    return trimmed(line.substr(tag + 2));
  const auto colon = line.find(':');
  if (colon != std::string_view::npos && all_digits(line.substr(0, colon)) &&
      (colon + 1 == line.size() || line[colon + 1] == ' '))
    return trimmed(line.substr(colon + 1));
  return line;
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

std::vector<LogLine> log_lines(std::string_view text) {
  std::vector<LogLine> lines;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    LogLine line{number, without_label(trimmed(text.substr(0, end))), {}};
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

void refuse_log(const std::string& file, int line, const std::string& reason,
                const std::string& remedy) {
  throw Error(ErrorKind::kFailure, "read the log",
              line > 0 ? file + ":" + std::to_string(line) : file, reason, remedy);
}

}  // namespace gradwire::results
