#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/joined_texts.h"
#include "trainers/data/csv_reader.h"
#include "trainers/data/own_files.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

constexpr std::size_t kMostClasses = 256;

/// Samples of one or two files of the same columns.
class CsvSet {
 public:
  CsvSet(std::string label, char separator) : label_(std::move(label)), separator_(separator) {}

  void read(const std::string& path) {
    CsvReader reader(path, separator_);
    std::vector<std::string> fields;
    const std::size_t before = labels_.size();
    order_.clear();
    for (bool first = true; reader.next(fields); first = false) {
      if (first && is_header(fields)) {
        columns_ == 0 ? set_columns(reader, fields, true) : match_columns(reader, fields);
        continue;
      }
      if (columns_ == 0) set_columns(reader, fields, false);
      add(reader, fields);
    }
    if (labels_.size() == before)
      reader.fail("it has no samples", "give one sample a line: numbers and a class");
  }

  std::size_t samples() const { return labels_.size(); }

  /// Throws TrainerError for a class that only samples from number `first` on have: no model that
  /// the others train could give it.
  void require_known_classes(std::size_t first, const std::string& path) const {
    const auto at = labels_.begin() + static_cast<std::ptrdiff_t>(first);
    const std::set<std::string> known(labels_.begin(), at);
    const auto unknown =
        std::find_if(at, labels_.end(), [&](const auto& label) { return !known.contains(label); });
    if (unknown == labels_.end()) return;
    throw TrainerError("read CSV file", path,
                       "no training sample has its class \"" + *unknown + "\"",
                       "remove its samples, or move some of them to the training file");
  }

  DataSet finish(const std::string& path) {
    DataSet data;
    data.name = "csv";
    data.channels = data.height = 1;
    data.width = static_cast<int>(columns_ - 1);
    data.numbers = std::move(numbers_);
    std::vector<std::string> classes = labels_;
    std::sort(classes.begin(), classes.end(), [](const std::string& a, const std::string& b) {
      const auto x = number_of(a), y = number_of(b);
      if (x && y && *x != *y) return *x < *y;
      return x.has_value() != y.has_value() ? x.has_value() : a < b;
    });
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
    if (classes.size() < 2 || classes.size() > kMostClasses) {
      throw TrainerError("read CSV file", path,
                         "its label column (" + column_name(label_at_) + ") has " +
                             std::to_string(classes.size()) + " different values",
                         "name the column with the 2 to 256 classes in /workload/data/label");
    }
    std::map<std::string, std::uint8_t> number;
    for (std::size_t c = 0; c < classes.size(); ++c)
      number[classes[c]] = static_cast<std::uint8_t>(c);
    for (const std::string& label : labels_) data.labels.push_back(number[label]);
    data.classes = static_cast<int>(classes.size());
    return data;
  }

 private:
  /// The line that names the label's column, or one without any number among its features. A line
  /// with some numbers is a sample, so that a mistake in the first one is not taken for a header.
  bool is_header(const std::vector<std::string>& fields) const {
    if (!label_.empty() && !number_of(label_) &&
        std::find(fields.begin(), fields.end(), label_) != fields.end())
      return true;
    for (std::size_t c = 0; c < fields.size(); ++c) {
      const bool may_be_label = columns_ > 0 ? c == label_at_ : could_be_label(c, fields.size());
      if (!may_be_label && (fields[c].empty() || number_of(fields[c]))) return false;
    }
    return true;
  }
  bool could_be_label(std::size_t column, std::size_t columns) const {
    if (label_.empty()) return column + 1 == columns;
    const auto number = number_of(label_);
    return number && static_cast<double>(column + 1) == *number;
  }

  void set_columns(const CsvReader& reader, const std::vector<std::string>& fields, bool header) {
    columns_ = fields.size();
    if (header) names_ = fields;
    if (columns_ < 2)
      reader.fail("there is one column, and a feature and a class are needed",
                  "put commas, semicolons, tabs or blanks between the columns, or set "
                  "/workload/data/separator to the one that is there");
    label_at_ = columns_ - 1;
    if (label_.empty()) return;
    const auto named = std::find(names_.begin(), names_.end(), label_);
    const auto number = number_of(label_);
    if (named != names_.end())
      label_at_ = static_cast<std::size_t>(named - names_.begin());
    else if (number && *number >= 1 && *number <= static_cast<double>(columns_) &&
             *number == std::floor(*number))
      label_at_ = static_cast<std::size_t>(*number) - 1;
    else
      reader.fail("there is no column " + label_ +
                      (header ? " among " + joined_texts(names_, ", ")
                              : " (no header line, " + std::to_string(columns_) + " columns)"),
                  "set /workload/data/label to a column's name, or its number from 1 on");
  }

  /// A further file's columns, by their names where both files have a header.
  void match_columns(const CsvReader& reader, const std::vector<std::string>& fields) {
    if (names_.empty()) return;
    for (const std::string& name : names_) {
      const auto found = std::find(fields.begin(), fields.end(), name);
      if (found == fields.end())
        reader.fail("there is no column " + name + " among " + joined_texts(fields, ", ") +
                        ", and the training file has one",
                    "give both files the same columns, in any order");
      order_.push_back(static_cast<std::size_t>(found - fields.begin()));
    }
  }

  void add(const CsvReader& reader, std::vector<std::string> fields) {
    if (!order_.empty() && fields.size() == columns_) {
      std::vector<std::string> ordered;
      for (const std::size_t place : order_) ordered.push_back(std::move(fields[place]));
      fields = std::move(ordered);
    }
    if (fields.size() != columns_)
      reader.fail(std::to_string(columns_) + " fields are expected, as in the lines before, " +
                      std::to_string(fields.size()) + " are there",
                  "complete the line or remove it");
    for (std::size_t c = 0; c < columns_; ++c) {
      if (c == label_at_) continue;
      const auto value = number_of(fields[c]);
      if (!value || !std::isfinite(static_cast<float>(*value)))
        reader.fail(
            "column " + column_name(c) + ": a finite number is expected, not \"" + fields[c] + "\"",
            fields[c].empty()              ? "fill in the value or remove the line"
            : has_decimal_comma(fields[c]) ? "write decimals with a point"
                                           : "write it as a number, or remove the column");
      numbers_.push_back(static_cast<float>(*value));
    }
    if (fields[label_at_].empty())
      reader.fail("column " + column_name(label_at_) + ": the class is missing",
                  "fill it in or remove the line");
    labels_.push_back(fields[label_at_]);
  }

  std::string column_name(std::size_t column) const {
    const std::string number = std::to_string(column + 1);
    return names_.empty() ? number : number + " (" + names_[column] + ")";
  }

  std::string label_;
  char separator_;
  std::size_t columns_ = 0, label_at_ = 0;
  std::vector<std::string> names_;
  std::vector<std::size_t> order_;  ///< places of the columns in the file that is read; empty: same
  std::vector<float> numbers_;
  std::vector<std::string> labels_;
};

}  // namespace

DataSet load_csv(const OwnFiles& files, const std::string& label, char separator) {
  CsvSet set(label, separator);
  set.read(files.path);
  const std::size_t first = set.samples();
  if (!files.held_out_path.empty()) {
    set.read(files.held_out_path);
    set.require_known_classes(first, files.held_out_path);
  }
  DataSet data = set.finish(files.path);
  split_own(files, first, data.labels.size(), data);
  if (files.normalise) normalise_numbers(data);
  return data;
}

}  // namespace gradwire::trainers
