#include "results/prediction/fit_file.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace gradwire::results {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kForm = 2;  ///< of the closed form: 1 took links that differ for their mean

[[noreturn]] void refuse(const std::string& file, const std::string& reason) {
  throw Error(ErrorKind::kFailure, "read the fit", file, reason, "write one with gradwire fit -o");
}

double finite(const Json& value, const std::string& file) {
  if (!value.is_number() || !std::isfinite(value.get<double>()))
    refuse(file, "a constant is not a number");
  return value.get<double>();
}

std::size_t constant_number(const std::string& name, const std::string& file) {
  for (std::size_t k = 0; k < kStepConstants; ++k)
    if (kStepConstantTable[k].name == name) return k;
  refuse(file, "nobody knows the constant \"" + name + "\"");
}

void read_constants(const Json& list, const std::string& file, StepFit& fit) {
  fit.described.resize(kStepConstants);
  for (const Json& row : list) {
    const std::size_t k = constant_number(row.at("name").get<std::string>(), file);
    fit.constants[k] = finite(row.at("value"), file);
    fit.described[k] = {std::string(kStepConstantTable[k].name),
                        "",
                        fit.constants[k],
                        finite(row.at("low"), file),
                        finite(row.at("high"), file),
                        row.at("identified").get<bool>()};
  }
  for (std::size_t k = 0; k < kStepConstants; ++k)
    if (fit.described[k].name.empty())
      refuse(file, "the constant \"" + std::string(kStepConstantTable[k].name) + "\" is missing");
}

void read_draws(const Json& list, const std::string& file, StepFit& fit) {
  for (const Json& row : list) {
    if (row.size() != kStepConstants) refuse(file, "a draw has another number of constants");
    StepConstants draw{};
    for (std::size_t k = 0; k < kStepConstants; ++k) draw[k] = finite(row[k], file);
    fit.draws.push_back(draw);
  }
}

/// Fits of earlier versions do not say what they rest on but for the workers.
FitGround read_ground(const Json& document, const std::string& file) {
  FitGround ground;
  if (!document.contains("ranges")) return ground;
  for (const auto& [provenance, count] : document.at("provenances").items())
    ground.points[provenance] = count.get<int>();
  for (const Json& range : document.at("ranges"))
    ground.ranges.push_back({range.at("quantity").get<std::string>(), finite(range.at("low"), file),
                             finite(range.at("high"), file)});
  return ground;
}

StepFit read(const Json& document, const std::string& file) {
  if (document.value("kind", "") != "fit") refuse(file, "it is not a fit");
  if (document.value("schema_version", 0) != 1) refuse(file, "its schema version is not 1");
  StepFit fit;
  read_constants(document.at("constants"), file, fit);
  read_draws(document.at("draws"), file, fit);
  fit.scatter = finite(document.at("scatter"), file);
  fit.least_workers = document.at("least_workers").get<int>();
  fit.most_workers = document.at("most_workers").get<int>();
  fit.ground = read_ground(document, file);
  if (document.value("form", 1) != kForm)
    fit.warnings.push_back(
        file +
        " is of an earlier version, whose form took links that differ for their mean: "
        "unless all links of its points were alike, fit it again");
  return fit;
}

}  // namespace

std::string fit_as_json(const StepFit& fit) {
  Json constants = Json::array();
  for (const Constant& constant : fit.described)
    constants.push_back({{"name", constant.name},
                         {"value", constant.value},
                         {"low", constant.low},
                         {"high", constant.high},
                         {"identified", constant.identified}});
  Json ranges = Json::array();
  for (const FitGround::Range& range : fit.ground.ranges)
    ranges.push_back({{"quantity", range.quantity}, {"low", range.low}, {"high", range.high}});
  const Json document = {{"schema_version", 1},
                         {"kind", "fit"},
                         {"form", kForm},
                         {"constants", constants},
                         {"draws", fit.draws},
                         {"scatter", fit.scatter},
                         {"least_workers", fit.least_workers},
                         {"most_workers", fit.most_workers},
                         {"points", fit.residuals.size()},
                         {"provenances", fit.ground.points},
                         {"ranges", ranges},
                         {"warnings", fit.warnings}};
  return document.dump(1) + "\n";
}

StepFit fit_from_json(std::string_view text, const std::string& file) {
  try {
    return read(Json::parse(text), file);
  } catch (const nlohmann::json::exception& problem) {
    refuse(file, problem.what());
  }
}

}  // namespace gradwire::results
