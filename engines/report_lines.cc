#include "engines/report_lines.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace gradwire::engines {
namespace {

using nlohmann::json;

/// Finite, or null.
json number(double value) {
  return std::isfinite(value) ? json(value) : json();
}

double number_of(const json& line, const char* name) {
  const auto found = line.find(name);
  return found == line.end() || found->is_null() ? std::nan("") : found->get<double>();
}

json json_of(const runner::RunProgress& progress) {
  return {{"run", progress.run},
          {"runs", progress.runs},
          {"name", progress.name},
          {"method", progress.method},
          {"seed", progress.seed},
          {"step", progress.step},
          {"steps", progress.steps},
          {"simulated_s", number(progress.simulated_s)},
          {"wall_s", number(progress.wall_s)},
          {"remaining_s", number(progress.remaining_s)},
          {"loss", number(progress.loss)},
          {"phase", progress.phase}};
}

}  // namespace

std::string hello_line(int ranks) {
  return json{{"type", "hello"}, {"ranks", ranks}}.dump();
}

std::string given_line(int rank, const std::vector<std::size_t>& places) {
  return json{{"type", "given"}, {"rank", rank}, {"places", places}}.dump();
}

std::string progress_line(const runner::RunProgress& progress) {
  json line = json_of(progress);
  line["type"] = "progress";
  return line.dump();
}

std::string forecast_line(const runner::RunProgress& progress,
                          const runner::PacketForecast& forecast) {
  json line = json_of(progress);
  line["type"] = "forecast";
  line["events"] = forecast.events;
  line["forecast_s"] = forecast.wall_s;
  return line.dump();
}

std::string part_line(const PartReport& report, int rank) {
  json line = {{"type", "part"},
               {"rank", rank},
               {"part", report.part},
               {"seconds", report.seconds},
               {"runs", json::array()}};
  for (const RunReport& run : report.runs)
    line["runs"].push_back({{"place", run.place},
                            {"run", run.run},
                            {"error", run.error},
                            {"interrupted", run.interrupted}});
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string error_line(const std::exception& error) {
  const auto* ours = dynamic_cast<const Error*>(&error);
  const ErrorKind kind = ours ? ours->kind() : ErrorKind::kFailure;
  return json{{"type", "error"}, {"kind", static_cast<int>(kind)}, {"message", error.what()}}.dump(
      -1, ' ', false, json::error_handler_t::replace);
}

runner::RunProgress progress_of(const json& line) {
  runner::RunProgress progress;
  progress.run = line.at("run").get<int>();
  progress.runs = line.at("runs").get<int>();
  progress.name = line.at("name").get<std::string>();
  progress.method = line.at("method").get<std::string>();
  progress.seed = line.at("seed").get<std::uint64_t>();
  progress.step = line.at("step").get<std::int64_t>();
  progress.steps = line.at("steps").get<std::int64_t>();
  progress.simulated_s = number_of(line, "simulated_s");
  progress.wall_s = number_of(line, "wall_s");
  progress.remaining_s = number_of(line, "remaining_s");
  progress.loss = number_of(line, "loss");
  progress.phase = line.at("phase").get<std::string>();
  return progress;
}

runner::PacketForecast forecast_of(const json& line) {
  runner::PacketForecast forecast;
  forecast.events = line.at("events").get<double>();
  forecast.wall_s = line.at("forecast_s").get<double>();
  return forecast;
}

PartReport part_of(const json& line) {
  PartReport report;
  report.part = line.at("part").get<std::string>();
  report.seconds = line.at("seconds").get<double>();
  for (const json& run : line.at("runs"))
    report.runs.push_back({run.at("place").get<std::size_t>(), run.at("run").get<results::RunId>(),
                           run.at("error").get<std::string>(), run.at("interrupted").get<bool>()});
  return report;
}

std::exception_ptr error_of(const json& line) {
  return std::make_exception_ptr(Error(static_cast<ErrorKind>(line.at("kind").get<int>()),
                                       line.at("message").get<std::string>()));
}

int rank_of(const json& line) {
  return line.at("rank").get<int>();
}

std::vector<std::size_t> places_of(const json& line) {
  return line.at("places").get<std::vector<std::size_t>>();
}

}  // namespace gradwire::engines
