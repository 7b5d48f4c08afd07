#pragma once
#include "sim/cluster/cell.h"

namespace gradwire::sim {

/// dB: of a Wi-Fi cell's scheme with that air_rate(), the ratio of signal to noise from which it is
/// used.
double wifi_scheme_snr(const Cell& cell, double air_rate);
/// Bits per second of the best scheme of a Wi-Fi cell for which that ratio, in dB, is enough; 0:
/// none.
double wifi_rate_at(const Cell& cell, double snr);

}  // namespace gradwire::sim
