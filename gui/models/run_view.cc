#include "gui/models/run_view.h"

#include <QStringList>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace gradwire::gui {

using results::RunId;
using results::RunSummary;

void RunView::set_runs(Snapshot runs) {
  runs_ = std::move(runs);
  columns_ = RunColumns(runs_);
  if (static_cast<int>(sort_column_) >= columns_.count()) sort_column_ = Column::kRun;
  std::erase_if(pins_, [this](RunId id) { return !index_of(id); });
  if (baseline_ && !index_of(*baseline_)) baseline_.reset();
  rebuild();
}

std::optional<std::uint32_t> RunView::index_of(RunId id) const {
  if (!runs_) return std::nullopt;
  const auto it = runs_->index.find(id);
  return it == runs_->index.end() ? std::nullopt : std::optional(it->second);
}

const std::vector<RunSummary>& RunView::all() const {
  static const std::vector<RunSummary> none;
  return runs_ ? runs_->runs : none;
}

void RunView::set_text_filter(const QString& words) {
  words_.clear();
  for (const QString& word : words.toLower().split(' ', Qt::SkipEmptyParts)) words_.push_back(word);
  predicate_ = nullptr;
  rebuild();
}

void RunView::set_predicate(RunPredicate predicate) {
  words_.clear();
  predicate_ = std::move(predicate);
  rebuild();
}

void RunView::forget_filter() {
  words_.clear();
  predicate_ = nullptr;
}

void RunView::sort(Column column, bool descending) {
  sort_column_ = column;
  descending_ = descending;
  rebuild();
}

bool RunView::toggle_pin(RunId id) {
  const auto it = std::find(pins_.begin(), pins_.end(), id);
  if (it == pins_.end() && pins_.size() >= kMaxPins) return false;
  if (it == pins_.end()) {
    pins_.push_back(id);
  } else {
    pins_.erase(it);
  }
  rebuild();
  return true;
}

void RunView::clear_pins() {
  pins_.clear();
  rebuild();
}

bool RunView::pinned(RunId id) const {
  return std::find(pins_.begin(), pins_.end(), id) != pins_.end();
}

void RunView::set_baseline(std::optional<RunId> id) {
  baseline_ = id && index_of(*id) ? id : std::nullopt;
  rebuild();
}

const RunSummary* RunView::baseline() const {
  return baseline_ ? find(*baseline_) : nullptr;
}

const RunSummary* RunView::find(RunId id) const {
  const auto index = index_of(id);
  return index ? &all()[*index] : nullptr;
}

int RunView::row_of(RunId id) const {
  const auto index = index_of(id);
  return index ? row_[*index] : -1;
}

bool RunView::accepts(std::uint32_t index) const {
  if (predicate_) return predicate_(all()[index]);
  return std::all_of(words_.begin(), words_.end(),
                     [&](const QString& word) { return runs_->texts[index].contains(word); });
}

void RunView::rebuild() {
  order_.clear();
  for (std::uint32_t i = 0; i < all().size(); ++i) {
    if (accepts(i)) order_.push_back(i);
  }
  if (runs_) {
    sort_order();
    lift_pins();
  }
  row_.assign(all().size(), -1);
  for (std::size_t row = 0; row < order_.size(); ++row) row_[order_[row]] = static_cast<int>(row);
}

void RunView::sort_order() {
  const Column column = sort_column_;
  if (columns_.is_number(column)) {
    std::vector<double> keys(all().size());
    // Absent values and NaN sort last whatever the direction.
    const double last = descending_ ? -INFINITY : INFINITY;
    for (std::uint32_t i : order_) {
      const double value = columns_.number(all()[i], column).value_or(last);
      keys[i] = std::isnan(value) ? last : value;
    }
    std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return descending_ ? keys[a] > keys[b] : keys[a] < keys[b];
    });
    return;
  }
  std::vector<QString> keys(all().size());
  for (std::uint32_t i : order_) keys[i] = columns_.raw_text(all()[i], column);
  std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (keys[a].isEmpty() != keys[b].isEmpty()) return keys[b].isEmpty();
    const int compared = keys[a].compare(keys[b], Qt::CaseInsensitive);
    return descending_ ? compared > 0 : compared < 0;
  });
}

void RunView::lift_pins() {
  // Pins and the baseline stand above any sort and any filter: they are what one compares with.
  std::vector<std::uint32_t> top;
  if (baseline_) top.push_back(*index_of(*baseline_));
  for (RunId id : pins_) {
    if (id != baseline_) top.push_back(*index_of(id));
  }
  if (top.empty()) return;
  std::erase_if(order_,
                [&](std::uint32_t i) { return std::find(top.begin(), top.end(), i) != top.end(); });
  order_.insert(order_.begin(), top.begin(), top.end());
}

std::vector<bool> RunView::differing_columns() const {
  std::vector<bool> differs(static_cast<std::size_t>(columns_.count()), false);
  differs[static_cast<int>(Column::kRun)] = true;
  for (int c = 1; c < columns_.count() && rows() > 1; ++c) {
    const Column column = column_at(c);
    for (int row = 1; row < rows() && !differs[c]; ++row) {
      differs[c] = columns_.is_number(column)
                       ? columns_.number(at(row), column) != columns_.number(at(0), column)
                       : columns_.raw_text(at(row), column) != columns_.raw_text(at(0), column);
    }
  }
  return differs;
}

}  // namespace gradwire::gui
