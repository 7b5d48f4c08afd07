#include "trainers/data/csv_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/gzip.h"
#include "base/plain_text.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {

std::optional<double> number_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool has_decimal_comma(std::string text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) return false;
  text[comma] = '.';
  return number_of(text).has_value();
}

namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

constexpr std::size_t kMostFields = std::numeric_limits<std::size_t>::max();
constexpr char kBlanks = ' ';  ///< as a separator: any number of blanks and tabs

/// The fields of a line; none where a quotation mark is not closed.
std::vector<std::string> fields_of(std::string_view line, char separator) {
  std::vector<std::string> fields;
  std::string field;
  bool quoted = false;
  const auto ends = [&](char c) {
    return !quoted && (separator == kBlanks ? c == ' ' || c == '\t' : c == separator);
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      field += line[i++];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (ends(c)) {
      fields.emplace_back(trimmed(field));
      field.clear();
      if (separator == kBlanks)
        while (i + 1 < line.size() && ends(line[i + 1])) ++i;
    } else {
      field += c;
    }
  }
  if (quoted) return {};
  fields.emplace_back(trimmed(field));
  return fields;
}

/// What cuts the first two lines into as many fields, of several what leaves the fewest that are no
/// numbers in the second; else what cuts the first one, or a comma.
char separator_in(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < 2)
    if (const std::string_view line = trimmed(take_line(text)); !line.empty())
      lines.push_back(line);
  char best = 0, first = 0;
  std::pair<std::size_t, std::size_t> least;  // fields that are no numbers; more fields are less
  for (const char separator : {'\t', ';', ',', kBlanks}) {
    if (lines.empty() || fields_of(lines.front(), separator).size() < 2) continue;
    if (first == 0) first = separator;
    const std::vector<std::string> fields = fields_of(lines.back(), separator);
    if (fields.size() != fields_of(lines.front(), separator).size()) continue;
    const auto words = static_cast<std::size_t>(std::count_if(
        fields.begin(), fields.end(),
        [](const std::string& field) { return !number_of(field) && !has_decimal_comma(field); }));
    const std::pair found(words, kMostFields - fields.size());
    if (best == 0 || found < least) best = separator, least = found;
  }
  return best != 0 ? best : first != 0 ? first : ',';
}

/// "1 3:0.5 7:1.25": a class, then numbers of columns with their values.
bool is_libsvm(std::string_view line) {
  const std::vector<std::string> fields = fields_of(line, kBlanks);
  return fields.size() > 1 && number_of(fields.front()) &&
         std::all_of(fields.begin() + 1, fields.end(), [](const std::string& field) {
           const std::size_t colon = field.find(':');
           return colon != std::string::npos && colon > 0 && number_of(field.substr(0, colon)) &&
                  number_of(field.substr(colon + 1));
         });
}

}  // namespace

CsvReader::CsvReader(const std::string& path, char separator)
    : path_(path), separator_(separator), bytes_(read_maybe_gzip(path)) {
  text_ = {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);  // byte order mark
  if (const std::string_view wide = wide_encoding(text_); !wide.empty())
    throw TrainerError("read CSV file", path_, "it is " + std::string(wide) + ", not UTF-8",
                       "iconv -f " + std::string(wide) + " -t UTF-8 makes it that");
  if (separator_ == 0) separator_ = separator_in(text_);
}

bool CsvReader::next(std::vector<std::string>& fields) {
  while (!text_.empty()) {
    ++line_;
    const std::string_view line = take_line(text_);
    if (trimmed(line).empty()) continue;
    // Between tabs the first field or the last may be empty.
    fields = fields_of(separator_ == '\t' ? line : trimmed(line), separator_);
    if (fields.empty()) fail("a quotation mark is not closed", "close it on the same line");
    if (line.find(':') != std::string_view::npos && is_libsvm(line))
      fail("it is in LIBSVM's format (a class, then column:value), which is not read",
           "write it as a table: sklearn.datasets.load_svmlight_file reads it, and "
           "numpy.savetxt writes one");
    return true;
  }
  return false;
}

void CsvReader::fail(const std::string& reason, const std::string& remedy) const {
  throw TrainerError("read CSV file", path_, "line " + std::to_string(line_) + ": " + reason,
                     remedy);
}

}  // namespace gradwire::trainers
