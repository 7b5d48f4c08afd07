#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/measured/constants.h"
#include "bench/measured/judged.h"

/// Constants of kernels for device profiles, from tables of what others measured.
namespace gradwire::bench {

struct DeviceFit {
  Constants constants{};
  /// Of the logarithm of a step's time, for a program that none of the tables has: how far programs
  /// on the device lie from its constants, where there are three of them, else how far programs lie
  /// from the constants of all others. Not below what programs show that nothing was fitted to.
  double deviation = 0;
  double spread = 0;  ///< the same, as the tables show it
  int sources = 0;    ///< of the device; 0: what all sources say
};

/// By device of `names`. A device's own rows, or those of another board with its chip, give its
/// constants, with what all rows say as their prior; a device without rows has the latter: the rule
/// for a GPU known by its data sheet alone.
std::map<std::string, DeviceFit> fit_devices(const std::vector<std::string>& names,
                                             std::span<const FormRow> rows);

/// {"note", "shares", ..., "spread", "deviation"}: one device of the below.
nlohmann::ordered_json kernels_json(const std::string& device, const DeviceFit& fit);

/// {NAME: {"note", "shares", "winograd", ...}, ...} as `/kernels` of a device profile has them, of
/// every shipped GPU, from the tables that ship; with "deviation" and without multiprocessors.
std::string device_fits_json();

}  // namespace gradwire::bench
