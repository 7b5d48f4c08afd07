#include "gui/charts/colour_classes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace gradwire::gui {

using results::RunSummary;

namespace {

std::vector<double> values_of(const RunView& view, Column column) {
  std::vector<double> values;
  for (const RunSummary& run : view.all()) {
    const auto value = view.columns().number(run, column);
    if (value && std::isfinite(*value)) values.push_back(*value);
  }
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

RunClasses::RunClasses(const RunView& view, Column column, std::size_t most)
    : columns_(view.columns()), column_(column) {
  if (!columns_.is_number(column)) {
    by_text(view, most);
    return;
  }
  bounds_ = values_of(view, column);
  with_absent_ = bounds_.size() < view.all().size();
  const std::set<double> distinct(bounds_.begin(), bounds_.end());
  if (distinct.size() <= most) {
    bounds_.assign(distinct.begin(), distinct.end());
    by_value(view);
  } else {
    by_range(view, most);
  }
  if (with_absent_) names_.push_back("no value");
}

void RunClasses::by_text(const RunView& view, std::size_t most) {
  std::map<QString, int> count;
  for (const RunSummary& run : view.all()) ++count[columns_.raw_text(run, column_)];
  if (column_ == Column::kMethod) {
    std::vector<std::string> labels;
    for (const auto& [text, runs] : count) labels.push_back(text.toStdString());
    methods_ = results::MethodColors(std::move(labels));
  }
  std::vector<std::pair<int, QString>> frequent;
  for (const auto& [text, runs] : count) frequent.emplace_back(-runs, text);
  std::sort(frequent.begin(), frequent.end());
  const bool others = frequent.size() > most;
  if (others) frequent.resize(most - 1);
  for (const auto& [runs, text] : frequent) texts_.push_back(text);
  std::sort(texts_.begin(), texts_.end());
  const QString title = columns_.title(column_).toLower();
  for (const QString& text : texts_) {
    names_.push_back(text.isEmpty() ? "no value" : text.toStdString());
  }
  if (others) names_.push_back(QString("other values of %1").arg(title).toStdString());
}

void RunClasses::by_value(const RunView& view) {
  std::map<double, QString> shown;
  for (const RunSummary& run : view.all()) {
    if (const auto value = columns_.number(run, column_)) {
      shown.try_emplace(*value, columns_.shown_text(run, column_, {}));
    }
  }
  const std::string title = columns_.title(column_).toLower().toStdString();
  for (const double value : bounds_) {
    names_.push_back(columns_.quantity(column_) == Quantity::kCount ||
                             columns_.quantity(column_) == Quantity::kPlain
                         ? title + " " + shown[value].toStdString()
                         : shown[value].toStdString());
  }
}

void RunClasses::by_range(const RunView&, std::size_t most) {
  // As many runs in each: a scale that fits lengths over many decades as well as a few values.
  const std::vector<double> values = std::move(bounds_);
  bounds_.clear();
  const std::size_t ranges = std::min<std::size_t>(most - (with_absent_ ? 1 : 0), 5);
  for (std::size_t i = 0; i < ranges; ++i) {
    const double bound = values[i * values.size() / ranges];
    if (bounds_.empty() || bound > bounds_.back()) bounds_.push_back(bound);
  }
  const auto shown = [&](double value) {
    return quantity_text(value, columns_.quantity(column_), {}).toStdString();
  };
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    names_.push_back(i + 1 < bounds_.size() ? shown(bounds_[i]) + " to " + shown(bounds_[i + 1])
                                            : shown(bounds_[i]) + " and more");
  }
}

int RunClasses::number_of(std::size_t class_index) const {
  if (column_ != Column::kMethod) return static_cast<int>(class_index);
  // Beyond the texts there are the others, which are no method.
  return methods_.of(class_index < texts_.size() ? texts_[class_index].toStdString() : "others");
}

std::size_t RunClasses::of(const RunSummary& run) const {
  if (!columns_.is_number(column_)) {
    const QString text = columns_.raw_text(run, column_);
    const auto found = std::lower_bound(texts_.begin(), texts_.end(), text);
    return found != texts_.end() && *found == text
               ? static_cast<std::size_t>(found - texts_.begin())
               : names_.size() - 1;
  }
  const auto value = columns_.number(run, column_);
  if (!value || !std::isfinite(*value)) return names_.size() - 1;
  const auto above = std::upper_bound(bounds_.begin(), bounds_.end(), *value);
  return above == bounds_.begin() ? 0 : static_cast<std::size_t>(above - bounds_.begin()) - 1;
}

}  // namespace gradwire::gui
