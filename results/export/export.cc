#include "results/export/export.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "results/export/csv.h"
#include "results/runs/fields.h"

namespace gradwire::results {
namespace {

using Json = nlohmann::ordered_json;

std::string csv_cell(const Json& value) {
  if (value.is_null()) return {};
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Rows are objects with equal keys in equal order.
std::string written(const std::vector<Json>& rows, const std::vector<std::string>& keys,
                    ExportFormat format) {
  if (format == ExportFormat::kJson) {
    Json document;
    document["schema_version"] = 1;
    document["rows"] = rows;
    return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  std::string out = csv_line(keys);
  for (const Json& row : rows) {
    std::vector<std::string> cells;
    for (const std::string& key : keys) cells.push_back(csv_cell(row[key]));
    out += csv_line(cells);
  }
  return out;
}

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

/// Whole numbers are written without a point.
Json field_value(const Field& field, const RunSummary& run) {
  if (field.text) return field.text(run);
  const std::optional<double> value = field.number(run);
  if (!value) return nullptr;
  const bool whole = field.quantity == Quantity::kCount || field.quantity == Quantity::kBytes ||
                     std::string_view(field.name) == "id";
  if (whole && std::abs(*value) < 9e15 && *value == std::floor(*value))
    return static_cast<std::int64_t>(*value);
  return number(*value);
}

RunSummary existing_run(const Store& store, RunId id) {
  if (auto run = store.run(id)) return std::move(*run);
  throw StoreError("export", "run " + std::to_string(id), "there is no such run",
                   "list the runs with `gradwire list`");
}

std::string step_name(const std::string& name, std::int64_t step) {
  return name + ".step" + std::to_string(step);
}

/// The keys of the first row, or those of a row made of defaults where there is none.
template <class Row, class ToJson>
std::string exported(const std::vector<Row>& rows, ExportFormat format, ToJson to_json) {
  std::vector<std::string> keys;
  const Json sample = to_json(Row{});
  for (const auto& [key, value] : sample.items()) keys.push_back(key);
  std::vector<Json> objects;
  for (const Row& row : rows) objects.push_back(to_json(row));
  return written(objects, keys, format);
}

}  // namespace

std::string_view lane_name(std::uint8_t lane) {
  constexpr std::array<std::string_view, 4> names = {"none", "compute", "codec", "host"};
  return lane < names.size() ? names[lane] : "network";
}

std::string export_runs(std::span<const RunSummary> runs, ExportFormat format) {
  std::vector<std::string> keys = {"name"};
  for (const std::string& name : field_names()) keys.push_back(name);
  std::vector<Json> rows;
  for (const RunSummary& run : runs) {
    Json row;
    row["name"] = run.header.scenario_name + "." + std::to_string(run.id);
    for (const Field& field : run_fields()) row[field.name] = field_value(field, run);
    rows.push_back(std::move(row));
  }
  return written(rows, keys, format);
}

std::string export_steps(const Store& store, RunId run, ExportFormat format) {
  const std::string name = existing_run(store, run).header.scenario_name;
  return exported(store.steps(run), format, [&](const StepRow& row) {
    return Json{{"name", step_name(name, row.step)},
                {"run", run},
                {"step", row.step},
                {"loss", number(row.loss)},
                {"start_s", number(row.start_s)},
                {"end_s", number(row.end_s)},
                {"payload_bytes", row.payload_bytes},
                {"wire_bytes", row.wire_bytes},
                {"retransmissions", row.retransmissions},
                {"compute_s", number(row.compute_s)},
                {"codec_s", number(row.codec_s)},
                {"exposed_s", number(row.exposed_s)},
                {"exposed_codec_s", number(row.exposed_codec_s)}};
  });
}

std::string export_metrics(const Store& store, RunId run, ExportFormat format) {
  existing_run(store, run);
  return exported(store.metrics(run), format, [&](const MetricRow& row) {
    return Json{{"name", row.name}, {"run", run},
                {"step", row.step}, {"value", number(row.value)},
                {"unit", row.unit}, {"provenance", name_of(row.provenance)}};
  });
}

std::string export_timeline(const Store& store, RunId run, ExportFormat format) {
  existing_run(store, run);
  const std::string provenance = store.timeline_provenance(run);
  return exported(store.timeline(run), format, [&](const TimelineSegment& row) {
    return Json{{"name", row.label},
                {"run", run},
                {"step", row.step},
                {"worker", row.worker},
                {"lane", lane_name(row.lane)},
                {"start_s", number(row.start_s)},
                {"end_s", number(row.end_s)},
                {"bytes", row.bytes},
                {"provenance", provenance}};
  });
}

std::string export_links(const Store& store, RunId run, ExportFormat format) {
  existing_run(store, run);
  struct Row {
    LinkSeries link;
    LinkSeries::Interval interval;
  };
  std::vector<Row> rows;
  for (LinkSeries& link : store.links(run)) {
    const auto intervals = std::exchange(link.intervals, {});
    for (const LinkSeries::Interval& interval : intervals) rows.push_back({link, interval});
  }
  return exported(rows, format, [&](const Row& row) {
    return Json{{"name", row.link.name},
                {"run", run},
                {"channel", row.link.channel},
                {"start_s", number(row.interval.start_s)},
                {"end_s", number(row.interval.end_s)},
                {"wire_bytes", row.interval.wire_bytes},
                {"rate_bps", number(row.link.rate_bps)},
                {"utilisation", number(row.link.utilisation(row.interval))}};
  });
}

}  // namespace gradwire::results
