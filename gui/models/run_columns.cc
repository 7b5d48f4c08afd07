#include "gui/models/run_columns.h"

#include <cmath>

#include "base/error.h"
#include "results/runs/scenario_view.h"

namespace gradwire::gui {

using results::QueryName;
using results::RunSummary;

std::size_t RunColumns::scenario_of(const RunSummary& run) const {
  const auto index = static_cast<std::size_t>(&run - runs_->runs.data());
  GRADWIRE_ASSERT(index < runs_->runs.size());
  return runs_->scenario_of[index];
}

const SweptColumn* RunColumns::swept(Column column) const {
  const int index = static_cast<int>(column) - kColumns;
  return index >= 0 && column < Column(count()) ? &runs_->swept[static_cast<std::size_t>(index)]
                                                : nullptr;
}

std::optional<Column> RunColumns::swept_at(const std::string& pointer) const {
  for (int c = kColumns; c < count(); ++c) {
    if (swept(column_at(c))->pointer == pointer) return column_at(c);
  }
  return std::nullopt;
}

QString RunColumns::title(Column column) const {
  const SweptColumn* field = swept(column);
  return field ? field->title : QString(info(column).title);
}

QString RunColumns::key(Column column) const {
  const SweptColumn* field = swept(column);
  return field ? QString::fromStdString(field->pointer) : QString(info(column).key);
}

QString RunColumns::help(Column column) const {
  const SweptColumn* field = swept(column);
  if (!field) {
    const QString origin = origin_text(column);
    return info(column).help + (origin.isEmpty() ? QString() : "; " + origin);
  }
  return (field->help.isEmpty() ? "field of the scenario" : field->help) +
         "; given by the scenario";
}

Quantity RunColumns::quantity(Column column) const {
  const SweptColumn* field = swept(column);
  return field ? field->quantity : info(column).quantity;
}

std::optional<double> RunColumns::number(const RunSummary& run, Column column) const {
  const SweptColumn* field = swept(column);
  if (!field) return gui::number(run, column);
  if (field->numbers.empty()) return std::nullopt;
  const double value = field->numbers[scenario_of(run)];
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

QString RunColumns::raw_text(const RunSummary& run, Column column) const {
  const SweptColumn* field = swept(column);
  return field ? field->texts[scenario_of(run)] : gui::raw_text(run, column);
}

QString RunColumns::shown_text(const RunSummary& run, Column column, NumberStyle style) const {
  const SweptColumn* field = swept(column);
  if (!field) return gui::shown_text(run, column, style);
  const QString& text = field->texts[scenario_of(run)];
  if (text.isEmpty()) return QStringLiteral("–");
  if (field->quantity == Quantity::kBytes && style.bits) {
    return quantity_text(field->numbers[scenario_of(run)], Quantity::kBytes, style);
  }
  if (field->quantity == Quantity::kPlain) {
    return QString::number(field->numbers[scenario_of(run)], 'g', 12);  // "0.0" is 0
  }
  return spaced_unit(text);
}

QString RunColumns::full_text(const RunSummary& run, Column column) const {
  const SweptColumn* field = swept(column);
  if (!field) return gui::full_text(run, column);
  const auto value = number(run, column);
  return value ? QString::number(*value, 'g', 17) : field->texts[scenario_of(run)];
}

QString RunColumns::delta_text(const RunSummary& run, const RunSummary& baseline,
                               Column column) const {
  if (!swept(column)) return gui::delta_text(run, baseline, column);
  const auto value = number(run, column), base = number(baseline, column);
  if (!value || !base || *base == 0 || *value == *base) return {};
  return QStringLiteral("×") + quantity_text(*value / *base, Quantity::kPlain, {});
}

namespace {

/// Names of fields.h that stand for a pointer, and would read every run's scenario again.
constexpr std::pair<const char*, const char*> kFieldsOfPointers[] = {
    {"/network/link/bandwidth", "bandwidth_bps"},
    {"/network/link/bandwidth", "bandwidth"},
    {"/network/link/delay", "delay_s"},
    {"/network/link/delay", "delay"},
    {"/network/link/loss", "link_loss"}};

void add_names(const std::string& pointer, QueryName name, std::vector<QueryName>& names) {
  for (const auto& [of, field] : kFieldsOfPointers) {
    if (pointer != of) continue;
    name.name = field;
    names.push_back(name);
  }
  name.name = pointer;
  names.push_back(std::move(name));
}

}  // namespace

std::vector<QueryName> RunColumns::query_names() const {
  std::vector<QueryName> names;
  for (int c = 0; c < count(); ++c) {
    const Column column = column_at(c);
    const SweptColumn* field = swept(column);
    if (!field) {
      names.push_back({info(column).title, info(column).key});
      continue;
    }
    QueryName name{field->title.toStdString()};
    name.text = [columns = *this, column](const RunSummary& run) {
      return columns.raw_text(run, column).toStdString();
    };
    name.number = [columns = *this, column](const RunSummary& run) {
      return columns.number(run, column);
    };
    names.push_back(name);
    add_names(field->pointer, std::move(name), names);
  }
  if (!runs_) return names;
  for (const auto& [pointer, text] : runs_->alike) {
    QueryName name{pointer};
    double value = 0;
    const auto number = results::number_from(text, value) ? std::optional(value) : std::nullopt;
    name.text = [text = text](const RunSummary&) { return text; };
    name.number = [number](const RunSummary&) { return number; };
    add_names(pointer, std::move(name), names);
  }
  return names;
}

}  // namespace gradwire::gui
