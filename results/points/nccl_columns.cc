#include "results/points/nccl_columns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace gradwire::results {
namespace {

using Words = std::vector<std::string_view>;

/// Bytes of an element, by the names of nccl-tests and rccl-tests.
constexpr std::array<std::pair<std::string_view, double>, 17> kTypes = {{{"int8", 1},
                                                                         {"uint8", 1},
                                                                         {"char", 1},
                                                                         {"int", 4},
                                                                         {"int32", 4},
                                                                         {"uint32", 4},
                                                                         {"int64", 8},
                                                                         {"uint64", 8},
                                                                         {"half", 2},
                                                                         {"float", 4},
                                                                         {"double", 8},
                                                                         {"bfloat16", 2},
                                                                         {"f8e4m3", 1},
                                                                         {"f8e5m2", 1},
                                                                         {"fp8_e4m3", 1},
                                                                         {"fp8_e5m2", 1},
                                                                         {"float16", 2}}};

double bytes_of_type(std::string_view name) {
  for (const auto& [type, bytes] : kTypes)
    if (type == name) return bytes;
  return 0;
}

bool is_count(std::string_view word) {
  return !word.empty() && word.size() <= 18 &&
         word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Where SIZE COUNT TYPE begin; the number of words where they do not.
std::size_t first_of_row(const Words& words) {
  for (std::size_t i = 0; i + 2 < words.size(); ++i)
    if (is_count(words[i]) && is_count(words[i + 1]) && bytes_of_type(words[i + 2]) > 0) return i;
  return words.size();
}

/// Half a unit of the last digit that is printed, over the number.
double blur_of(std::string_view word, double value) {
  if (value <= 0) return 0;
  const auto exponent = std::min(word.find_first_of("eE"), word.size()), point = word.find('.');
  const auto decimals = point < exponent ? exponent - point - 1 : 0;
  const double power =
      exponent < word.size() ? std::floor(std::log10(value)) : 0;  // one digit before the point
  return 0.5 * std::pow(10, power - static_cast<double>(decimals)) / value;
}

double figure(const Words& words, std::size_t column, const std::string& file, int line) {
  const auto number = number_of(words[column]);
  if (!number) refuse_log(file, line, "\"" + std::string(words[column]) + "\" is no number");
  return *number;
}

}  // namespace

bool NcclColumns::is_header(const LogLine& line) {
  const auto has = [&](const char* word) {
    return std::find(line.words.begin(), line.words.end(), word) != line.words.end();
  };
  return has("algbw") && (has("size") || has("#size"));
}

bool NcclColumns::is_row(const LogLine& line) {
  return first_of_row(line.words) < line.words.size();
}

NcclColumns::NcclColumns(const LogLine& header, const std::string& file) {
  Words words = header.words;
  const auto size = std::find_if(words.begin(), words.end(), [](std::string_view word) {
    return word == "size" || word == "#size";
  });
  label_ = static_cast<std::size_t>(size - words.begin());
  words.erase(words.begin(), size);
  if (label_ > 0 && header.words[label_ - 1] == "#") --label_;
  if (std::find(words.begin(), words.end(), "cputime") != words.end())
    refuse_log(file, header.number, "its times are the CPU's, not the collective's",
               "measure without -C");
  name(words);
  for (const Group& group : groups_)
    if (group.algbw == 0 || group.busbw == 0)
      refuse_log(file, header.number, "a time stands without algbw and busbw");
  if (groups_.empty())
    refuse_log(file, header.number, "no column of times was recognised",
               "keep the two lines with the columns' names above the table");
}

void NcclColumns::name(const Words& words) {
  count_ = words.size();
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "timestamp") ++count_;  // a date and a time of day
    if (words[i] == "count") count_column_ = i;
    if (words[i] == "type") type_ = i;
    if (words[i] == "redop") reduction_ = i;
    if (words[i] == "root") root_ = i;
    if (words[i] == "time") groups_.push_back({i, 0, 0, std::nullopt});
    if (groups_.empty()) continue;
    if (words[i] == "algbw") groups_.back().algbw = i;
    if (words[i] == "busbw") groups_.back().busbw = i;
    if (words[i] == "#wrong" || words[i] == "error") groups_.back().wrong = i;
  }
}

bool NcclColumns::has(const LogLine& line) const {
  if (is_row(line)) return true;
  const Words& words = line.words;
  return count_ > 0 && label_ < words.size() && number_of(words[label_]) &&
         (label_ + 1 == words.size() || number_of(words[label_ + 1]));
}

/// Time, algbw, busbw and wrong, once or twice, stand behind the type, the reduction and the root.
NcclColumns NcclColumns::guessed(const Words& words) {
  Words names = {"size", "count", "type"};
  if (names.size() < words.size() && !number_of(words[3])) names.push_back("redop");
  const std::size_t next = names.size();
  if (next < words.size() && (words[next] == "-1" || (words.size() - next) % 4 == 1))
    names.push_back("root");
  while (names.size() < words.size())
    names.insert(names.end(), {"time", "algbw", "busbw", "#wrong"});
  NcclColumns columns;
  columns.name(names);
  return columns;
}

NcclColumns::Words NcclColumns::words_of(const LogLine& line, const std::string& file) const {
  std::size_t first = first_of_row(line.words);
  if (first == line.words.size()) first = label_;
  Words words(line.words.begin() + static_cast<std::ptrdiff_t>(first), line.words.end());
  // Tests without a reduction leave its column empty.
  if (reduction_ && words.size() + 1 == count_ && number_of(words[*reduction_]))
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(*reduction_), std::string_view());
  if (count_ > 0 && words.size() != count_)
    refuse_log(file, line.number,
               std::to_string(words.size()) + " words under " + std::to_string(count_) +
                   " columns: cut off, or mixed with other output",
               "remove the line, or log again without NCCL_DEBUG");
  return words;
}

NcclTiming NcclColumns::timing(const Words& words, const Group& group, const std::string& file,
                               int line) {
  NcclTiming timing{1e-6 * figure(words, group.time, file, line),
                    1e9 * figure(words, group.algbw, file, line),
                    1e9 * figure(words, group.busbw, file, line)};
  if (timing.seconds <= 0) refuse_log(file, line, "its time is 0");
  timing.blur = blur_of(words[group.time], 1e6 * timing.seconds);
  // "N/A" where nothing was checked; old versions print the largest difference (5e-07).
  if (group.wrong) timing.wrong = number_of(words[*group.wrong]).value_or(0) >= 1;
  return timing;
}

NcclLine NcclColumns::read(const LogLine& line, const std::string& file) const {
  const Words words = words_of(line, file);
  if (count_ == 0) {
    const NcclColumns columns = guessed(words);
    if (columns.groups_.empty() || columns.groups_.size() > 2 || columns.count_ != words.size())
      refuse_log(file, line.number, "the row is cut off, or mixed with other output",
                 "keep the line with the columns' names above the table");
    return columns.read(line, file);
  }
  NcclLine read{{line.number, figure(words, 0, file, line.number), {}}};
  if (type_ && count_column_ > 0) {
    const double one = bytes_of_type(words[*type_]) * number_of(words[count_column_]).value_or(0);
    if (one > 0) read.parts = read.row.bytes / one;
  }
  if (reduction_)
    read.reduction = words[*reduction_].empty()     ? NcclReduction::kEmpty
                     : words[*reduction_] == "none" ? NcclReduction::kNone
                                                    : NcclReduction::kOperation;
  read.rooted = root_ && number_of(words[*root_]);
  if (read.row.bytes == 0) return read;
  for (const Group& group : groups_)
    read.row.timings.push_back(timing(words, group, file, line.number));
  return read;
}

}  // namespace gradwire::results
