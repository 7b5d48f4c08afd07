#pragma once
#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engines/part_report.h"
#include "runner/cost/packet_forecast.h"
#include "runner/run_observer.h"

/// What the processes of a sweep say, as lines of JSON: ranks of MPI to the first of them, and it
/// by its standard output to `gradwire`; tasks of a batch system in files. Each has a "type":
/// hello, given, progress, forecast, part, error.
namespace gradwire::engines {

std::string hello_line(int ranks);
std::string given_line(int rank, const std::vector<std::size_t>& places);
std::string progress_line(const runner::RunProgress& progress);
std::string forecast_line(const runner::RunProgress& progress,
                          const runner::PacketForecast& forecast);
std::string part_line(const PartReport& report, int rank);
std::string error_line(const std::exception& error);

runner::RunProgress progress_of(const nlohmann::json& line);
runner::PacketForecast forecast_of(const nlohmann::json& line);
PartReport part_of(const nlohmann::json& line);
/// The Error that such a line carries.
std::exception_ptr error_of(const nlohmann::json& line);
int rank_of(const nlohmann::json& line);
/// Of a line that says what was given out.
std::vector<std::size_t> places_of(const nlohmann::json& line);

}  // namespace gradwire::engines
