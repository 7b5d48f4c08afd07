#pragma once
#include "sim/cluster/cell.h"

namespace gradwire::sim {

/// dB: of a Wi-Fi cell's scheme with that air_rate(), the ratio of signal to noise from which it is
/// used.
double wifi_scheme_snr(const Cell& cell, double air_rate);

}  // namespace gradwire::sim
