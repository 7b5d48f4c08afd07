#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Lines of other programs' logs.
namespace gradwire::results {

struct LogLine {
  int number = 0;  ///< from 1
  std::string_view text;
  std::vector<std::string_view> words;
};

/// A log's bytes as plain lines: text_in_lines (base/plain_text.h), without terminals' escape
/// sequences (colours). Throws Error.
std::string plain_log(std::string_view bytes, const std::string& file);

/// The lines that are not empty. They refer to `text`.
std::vector<LogLine> log_lines(std::string_view text);

/// The whole word as a finite number of 0 or more.
std::optional<double> number_of(std::string_view word);

/// "log.txt:12", for messages.
std::string log_place(const std::string& file, int line);

/// Throws Error about a line of a log (0 = about the log).
[[noreturn]] void refuse_log(const std::string& file, int line, const std::string& reason,
                             const std::string& remedy = {});

}  // namespace gradwire::results
