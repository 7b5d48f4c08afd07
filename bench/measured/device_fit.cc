#include "bench/measured/device_fit.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/fidelity/statistics.h"
#include "bench/measured/forms.h"
#include "bench/measured/step_form.h"
#include "results/prediction/device_kin.h"
#include "scenarios/profiles/profile.h"

namespace gradwire::bench {
namespace {

using Rows = std::vector<const FormRow*>;
constexpr int kSourcesEnough = 3;  // to tell how far programs differ on one device
// Root of the mean square of the errors of published throughputs of single GPUs, by programs that
// nothing was fitted to (docs/models/devices.md).
constexpr double kLeastDeviation = 0.25;

using results::chip_of;

template <class Wanted>
Rows chosen(std::span<const FormRow> rows, Wanted&& wanted) {
  Rows some;
  for (const FormRow& row : rows)
    if (wanted(row)) some.push_back(&row);
  return some;
}

std::set<std::string> groups_in(const Rows& rows) {
  std::set<std::string> names;
  for (const FormRow* row : rows) names.insert(row->group);
  return names;
}

/// Root of the mean square of the rows' errors (of logarithms) where `known` says of each group
/// what its times are; every group weighs the same.
template <class KnownFor>
double spread_over(const Rows& rows, KnownFor&& known_for) {
  std::vector<double> squares;
  for (const std::string& group : groups_in(rows)) {
    const Known known = known_for(group);
    std::vector<double> own;
    for (const FormRow* row : rows)
      if (row->group == group)
        own.push_back(std::pow(std::log(row->time(known.values) / row->measured), 2));
    squares.push_back(mean_of(own));
  }
  return std::sqrt(mean_of(squares));
}

double rounded(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3g", value);
  return std::strtod(text, nullptr);
}

std::string note_of(const std::string& device, const DeviceFit& fit) {
  if (fit.sources == 0)
    return "Rule for a GPU known by its data sheet: what " +
           std::string(
               "the measured sources of all "
               "devices have in common. Nothing was measured on ") +
           device + ".";
  return "Fitted to " + std::to_string(fit.sources) + " published source" +
         (fit.sources > 1 ? "s" : "") + " of step times on " +
         (chip_of(device) == device ? "this device." : chip_of(device) + ", which has its chip.");
}

}  // namespace

nlohmann::ordered_json kernels_json(const std::string& device, const DeviceFit& fit) {
  const auto at = [&](Constant which) { return rounded(of(fit.constants, which)); };
  const double matrix = of(fit.constants, Constant::kMatrixTensor);
  const double convolution = of(fit.constants, Constant::kConvolutionTensor);
  return {
      {"note", note_of(device, fit)},
      {"shares",
       {{"fp32",
         {{"matrix", at(Constant::kMatrixFp32)}, {"convolution", at(Constant::kConvolutionFp32)}}},
        {"tf32",
         {{"matrix", rounded(kTf32OfFp16 * matrix)},
          {"convolution", rounded(kTf32OfFp16 * convolution)}}},
        {"fp16", {{"matrix", rounded(matrix)}, {"convolution", rounded(convolution)}}}}},
      {"winograd", at(Constant::kWinograd)},
      {"memory", std::min(1.0, at(Constant::kMemory))},
      {"tile", at(Constant::kTile)},
      {"traffic", at(Constant::kTraffic)},
      {"update", at(Constant::kUpdate)},
      {"host_s", at(Constant::kHost)},
      {"step_s", at(Constant::kStep)},
      {"parallel_s", at(Constant::kParallel)},
      {"spread", rounded(fit.spread)},
      {"deviation", rounded(fit.deviation)}};
}

std::map<std::string, DeviceFit> fit_devices(const std::vector<std::string>& names,
                                             std::span<const FormRow> rows) {
  const auto unknowns = constant_unknowns();
  const Rows all = chosen(rows, [](const FormRow&) { return true; });
  const Known common = known_from(all, unknowns);
  const double strangers = spread_over(all, [&](const std::string& group) {
    return known_from(chosen(rows, [&](const FormRow& row) { return row.group != group; }),
                      unknowns);
  });
  std::map<std::string, DeviceFit> fits;
  for (const std::string& name : names) {
    const Rows own = chosen(rows, [&](const FormRow& row) { return row.device == chip_of(name); });
    auto around = unknowns;
    for (std::size_t i = 0; i < around.size(); ++i)
      around[i].start = around[i].prior_mean = common.values[i];
    const auto sources = static_cast<int>(groups_in(own).size());
    const Known known = sources == 0   ? common
                        : sources == 1 ? known_from(own, around)
                                       : known_with_levels(own, around);
    const double spread = sources < kSourcesEnough
                              ? strangers
                              : spread_over(own, [&](const std::string&) { return known; }) *
                                    std::sqrt(sources / (sources - 1.0));
    fits[name] = {constants_at(known.values), std::max(spread, kLeastDeviation), spread, sources};
  }
  return fits;
}

std::string device_fits_json() {
  std::vector<std::string> names;
  for (const std::string& name : scenarios::shipped_profiles("device"))
    if (scenarios::load_device_profile(name, "").kernels) names.push_back(name);
  nlohmann::ordered_json json;
  for (const auto& [name, fit] : fit_devices(names, shipped_steps()))
    json[name] = kernels_json(name, fit);
  return json.dump(1) + "\n";
}

}  // namespace gradwire::bench
