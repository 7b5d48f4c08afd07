#include "gui/models/columns.h"

#include <QLocale>
#include <QStringList>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/units.h"
#include "results/runs/figure_origin.h"

namespace gradwire::gui {
namespace {

using results::RunSummary;

constexpr std::array<ColumnInfo, kColumns> kInfos = {{
    {"id", "Run", "number of the run in this database", Quantity::kIdentifier},
    {"scenario_name", "Name", "name of the scenario", Quantity::kText},
    {"method", "Method", "compression method and what distinguishes it", Quantity::kText},
    {"executor", "Executor", "what ran the step graphs: model, flow, packet or emulator",
     Quantity::kText},
    {"model", "Model", "neural network or profile", Quantity::kText},
    {"workers", "Workers", "number of workers", Quantity::kCount},
    {"seed", "Seed", "random seed", Quantity::kIdentifier},
    {"status", "Status", "running, finished, partial (kept after a cancel), failed or diverged",
     Quantity::kText},
    {"steps_done", "Steps", "training steps done", Quantity::kCount},
    {"final_accuracy", "Accuracy", "share of held-out samples right at the end", Quantity::kShare},
    {"final_loss", "Loss", "training loss of the last step", Quantity::kPlain},
    {"step_time_s", "Step time", "mean simulated time of a step", Quantity::kDuration},
    {"compression_ratio", "Compression",
     "what a worker encodes of its gradients, as a share of their fp32 values' bytes",
     Quantity::kRatio},
    {"traffic_ratio", "Traffic",
     "bytes on the wire, as a share of those of the same exchange of fp32 values",
     Quantity::kRatio},
    {"wire_bytes", "On the wire", "bytes sent by all hosts, headers and repeats included",
     Quantity::kBytes},
    {"simulated_s", "Simulated", "virtual time of the whole run", Quantity::kDuration},
    {"time_to_target_s", "To target", "virtual time until the target accuracy was reached",
     Quantity::kDuration},
    {"started_at", "Started", "when the run was started (UTC)", Quantity::kText},
    {"tag", "Tags", "labels given to the run", Quantity::kText},
}};

QString text(std::string_view value) {
  return QString::fromUtf8(value.data(), static_cast<qsizetype>(value.size()));
}

/// Three significant digits, trailing zeros kept; no exponent where that stays readable.
QString significant(double value) {
  const double size = std::abs(value);
  if (value == 0) return "0";
  if (size < 1e-3 || size >= 1e5) return QString::number(value, 'g', 3);
  const int decimals = 2 - static_cast<int>(std::floor(std::log10(size)));
  return QString::number(value, 'f', std::max(0, decimals));
}

QString bits_text(double bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"bit", "kbit", "Mbit", "Gbit", "Tbit"};
  double value = bytes * 8;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return significant(value) + " " + kUnits[unit];
}

QString tags_text(const RunSummary& run) {
  QStringList tags;
  for (const auto& tag : run.tags) tags << text(tag);
  return tags.join(", ");
}

QString signed_text(double value, int decimals, const char* unit) {
  const QString digits = QString::number(std::abs(value), 'f', decimals);
  if (digits.toDouble() == 0) return QString("±0 ") + unit;
  const QString sign = value < 0 ? QStringLiteral("−") : QStringLiteral("+");
  return sign + digits + " " + unit;
}

}  // namespace

const ColumnInfo& info(Column column) {
  return kInfos[static_cast<std::size_t>(column)];
}

bool is_number(Column column) {
  return info(column).quantity != Quantity::kText;
}

QString origin_text(Column column) {
  if (!is_number(column)) return {};
  const auto origin = results::origin_of(info(column).key);
  GRADWIRE_ASSERT(origin.has_value());
  return text(results::in_words(*origin));
}

std::optional<double> number(const RunSummary& run, Column column) {
  switch (column) {
    case Column::kRun:
      return static_cast<double>(run.id);
    case Column::kWorkers:
      return run.header.workers;
    case Column::kSeed:
      return static_cast<double>(run.header.seed);
    case Column::kSteps:
      return static_cast<double>(run.steps_done);
    case Column::kAccuracy:
      return run.final_accuracy;
    case Column::kLoss:
      return run.final_loss;
    case Column::kStepTime:
      return run.step_time_s;
    case Column::kCompressionRatio:
      return run.compression_ratio;
    case Column::kTrafficRatio:
      return run.traffic_ratio;
    case Column::kWireBytes:
      return run.wire_bytes;
    case Column::kSimulated:
      return run.simulated_s;
    case Column::kTimeToTarget:
      return run.time_to_target_s;
    default:
      return std::nullopt;
  }
}

QString raw_text(const RunSummary& run, Column column) {
  switch (column) {
    case Column::kName:
      return text(run.header.scenario_name);
    case Column::kMethod:
      return text(run.header.method);
    case Column::kExecutor:
      return text(results::engine_of(run.header));
    case Column::kModel:
      return text(run.header.model);
    case Column::kStatus:
      return text(results::name_of(run.status));
    case Column::kStarted:
      return text(run.started_at);
    case Column::kTags:
      return tags_text(run);
    default:
      return {};
  }
}

QString quantity_text(double value, Quantity quantity, NumberStyle style) {
  if (!std::isfinite(value)) return std::isnan(value) ? "not a number" : "infinite";
  switch (quantity) {
    case Quantity::kShare:
      return QString::number(value * 100, 'f', 1) + " %";
    case Quantity::kRatio:
      return significant(value * 100) + " %";
    case Quantity::kDuration:
      return text(format_duration(Seconds(value)));
    case Quantity::kBytes:
      return style.bits ? bits_text(value)
                        : text(format_bytes(Bytes(static_cast<std::int64_t>(value))));
    case Quantity::kRate:
      return text(format_rate(BitsPerSecond(value)));
    case Quantity::kCount:
      return QLocale::c().toString(static_cast<qlonglong>(value));
    case Quantity::kIdentifier:
      return QString::number(value, 'f', 0);
    default:
      return significant(value);
  }
}

QString shown_text(const RunSummary& run, Column column, NumberStyle style) {
  if (!is_number(column)) return raw_text(run, column);
  if (column == Column::kSeed) return QString::number(run.header.seed);
  const auto value = number(run, column);
  if (!value) return QStringLiteral("–");
  const QString shown = quantity_text(*value, info(column).quantity, style);
  const bool unfinished = column == Column::kSteps && run.steps_done < run.steps_total;
  return unfinished
             ? shown + " of " +
                   quantity_text(static_cast<double>(run.steps_total), Quantity::kCount, style)
             : shown;
}

QString full_text(const RunSummary& run, Column column) {
  if (!is_number(column)) return raw_text(run, column);
  if (column == Column::kSeed) return QString::number(run.header.seed);
  const auto value = number(run, column);
  return value ? QString::number(*value, 'g', 17) : QString();
}

QString delta_text(const RunSummary& run, const RunSummary& baseline, Column column) {
  const Quantity quantity = info(column).quantity;
  if (quantity == Quantity::kText || quantity == Quantity::kIdentifier ||
      quantity == Quantity::kCount) {
    return {};
  }
  const auto value = number(run, column), base = number(baseline, column);
  if (!value || !base || !std::isfinite(*value) || !std::isfinite(*base)) return {};
  if (quantity == Quantity::kShare) return signed_text((*value - *base) * 100, 1, "pp");
  if (*base == 0) return {};
  const double percent = (*value / *base - 1) * 100;
  if (std::abs(percent) >= 1000) return "×" + significant(*value / *base);
  return signed_text(percent, std::abs(percent) < 10 ? 1 : 0, "%");
}

}  // namespace gradwire::gui
