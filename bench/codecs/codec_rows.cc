#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

#include "bench/codecs/codecs.h"

/// What `bench codecs` measured, as rows and as a table.
namespace gradwire::bench {
namespace {

std::string place_of(const CodecPoint& point) {
  return size_text(point.bytes) + ".t" + std::to_string(point.threads);
}

BenchRow row_of(const CodecPoint& point, const std::string& instructions, Metric metric,
                double value) {
  const std::string stem = "codecs." + point.label + "." + name_of(point.operation);
  BenchRow row{.name = stem + "." + place_of(point) + "." + name_of(metric),
               .value = value,
               .unit = unit_of(metric),
               .provenance = metric == Metric::kTraffic ? "predicted" : "measured"};
  const auto bar =
      codec_bar(instructions, point.label, point.operation, metric, point.bytes, point.threads);
  if (!bar) return row;
  row.bar = bar->value;
  row.at_most = bar->at_most;
  row.alternative = bar->alternative;
  if (bar->has_alternative) row.either = stem;
  return row;
}

void add_rows(const CodecPoint& point, const std::string& instructions,
              std::vector<BenchRow>& rows) {
  const auto add = [&](Metric metric, std::optional<double> value) {
    if (value) rows.push_back(row_of(point, instructions, metric, *value));
  };
  add(Metric::kSpeed, point.gb_per_s());
  add(Metric::kTraffic, point.traffic.total());
  add(Metric::kRoofShare, point.roof_share);
  add(Metric::kCycles, point.cycles);
  if (point.bytes <= 4096) add(Metric::kCallTime, 1e6 * point.call_s);
  add(Metric::kTorchRatio, point.torch_ratio);
}

/// Medians over the cases of one size and thread count.
void add_roof_rows(const CodecBenchResult& result, std::vector<BenchRow>& rows) {
  using Speeds = Roof::Speeds;
  constexpr std::pair<const char*, double Speeds::*> kLoops[] = {{"read", &Speeds::read},
                                                                 {"copy", &Speeds::copy},
                                                                 {"fill", &Speeds::fill},
                                                                 {"update", &Speeds::update},
                                                                 {"add", &Speeds::add}};
  std::map<std::pair<std::size_t, int>, std::vector<Speeds>> places;
  for (const RoofPoint& roof : result.roofs)
    places[{roof.bytes, roof.threads}].push_back(roof.speeds);
  for (const auto& [place, all] : places) {
    for (const auto& [name, member] : kLoops) {
      std::vector<double> speeds;
      for (const Speeds& one : all) speeds.push_back(one.*member);
      rows.push_back({.name = std::string("codecs.roof.") + name + "." + size_text(place.first) +
                              ".t" + std::to_string(place.second) + ".speed",
                      .value = median(speeds),
                      .unit = "GB/s"});
    }
  }
}

std::string cell(std::optional<double> value, const char* format) {
  char text[40] = "";
  if (value) std::snprintf(text, sizeof text, format, *value);
  return text;
}

std::vector<std::string> line_of(const CodecPoint& p) {
  const std::string share = p.roof_share ? cell(100 * *p.roof_share, "%.0f") : "";
  return {p.label,
          name_of(p.operation),
          size_text(p.bytes),
          std::to_string(p.threads),
          cell(p.gb_per_s(), "%.2f"),
          cell(p.traffic.total(), "%.2f"),
          share,
          cell(p.cycles, "%.2f"),
          cell(1e6 * p.call_s, "%.3g"),
          cell(p.torch_ratio, "%.1f")};
}

}  // namespace

std::string size_text(std::size_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  for (; unit < 3 && bytes >= 1024 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return std::to_string(bytes) + units[unit];
}

std::vector<BenchRow> rows_of(const CodecBenchResult& result) {
  std::vector<BenchRow> rows;
  rows.push_back({.name = "codecs.clock", .value = result.clock_ghz, .unit = "GHz"});
  add_roof_rows(result, rows);
  for (const CodecPoint& point : result.points) add_rows(point, result.instructions, rows);
  for (const CoderPoint& coder : result.coders) {
    const std::string name = coder.name.substr(0, coder.name.find('.'));
    rows.push_back({.name = "codecs.coding." + coder.name + ".t1.symbol_rate",
                    .value = coder.million_symbols_per_s,
                    .unit = "M/s",
                    .bar = coder_bar(name),
                    .at_most = false});
  }
  judge(rows);
  return labelled(std::move(rows), "measured");
}

std::vector<std::string> notes_on(const CodecBenchResult& result) {
  constexpr double kBusy = 0.25;
  std::vector<std::string> notes;
  for (const std::string& what : result.left_out) notes.push_back("left out: " + what);
  if (result.interrupted > kBusy)
    notes.push_back("the machine was busy: others ran during " +
                    cell(100 * result.interrupted, "%.0f") +
                    " % of the samples; figures, ratios too, are not reliable");
  return notes;
}

std::vector<std::vector<std::string>> summary_lines(const CodecBenchResult& result) {
  std::map<std::string, std::size_t> places;  // labels in the order of the catalogue
  std::vector<const CodecPoint*> order;
  for (const CodecPoint& point : result.points) {
    places.emplace(point.label, places.size());
    order.push_back(&point);
  }
  std::sort(order.begin(), order.end(), [&](const CodecPoint* a, const CodecPoint* b) {
    return std::tuple(places[a->label], a->operation, a->bytes, a->threads) <
           std::tuple(places[b->label], b->operation, b->bytes, b->threads);
  });
  std::vector<std::vector<std::string>> lines = {
      {"codec", "operation", "tensor", "threads", "GB/s of fp32", "bytes an element",
       "% of the memory roof", "cycles an element", "microseconds a call", "times LibTorch"}};
  for (const CodecPoint* point : order) lines.push_back(line_of(*point));
  return lines;
}

std::string summary_of(const CodecBenchResult& result) {
  std::string text;
  for (const std::vector<std::string>& line : summary_lines(result)) {
    const bool titles = text.empty();
    for (const std::string& each : line) text += "| " + each + " ";
    text += "|\n";
    if (titles) text += "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n";
  }
  return text;
}

}  // namespace gradwire::bench
