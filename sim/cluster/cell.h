#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/cluster/link.h"

/// Radio cells: stations that share the air of one base (an access point, an eNodeB).
///
/// Rate. Log-distance path loss, no fading: at distance d (1 m or more)
///     loss(d) = L_1 + 10 n log10(d)                                         dB
///     SNR(d)  = power - loss(d) - (-174 + 10 log10(width) + noise figure)   dB
/// LTE's width is that of its blocks: 9 of 10 MHz.
/// The rate is that of the best scheme for which the SNR is enough:
///     Wi-Fi   802.11ax, one spatial stream, guard interval 3.2 us: symbols of 16 us, N data
///             carriers of b bits and code rate c: r = N b c / 16 us
///     LTE     CQI of 3GPP TS 36.213 table 7.2.3-1 for log2(1 + SNR / G), G = -ln(5 BER) / 1.5,
///             BER = 5e-5 (Piro et al., 2010), down for an SNR of 3.54 dB more; a transport block
///             of the CQI carries T bits in 1 ms and 50 blocks of 180 kHz (36,696 at the best): of
///             R blocks (down: those in whole groups) r = 1000 T R / 50
/// Served alone, an LTE station gets 0.93 r (cell.cc). A Wi-Fi station sends turns of B =
/// min(65,535 bytes, 5.484 ms r) (the A-MPDU's limits), each of which costs kWifiTurn more, and
/// kWifiFraming times its time (TCP's acknowledgements, the frames' headers, whole symbols), so it
/// gets
///     B / (kWifiFraming B / r + kWifiTurn)
///
/// Sharing. Wi-Fi: DCF gives every station with data equal turns, up and down in one medium, so
/// that stations send B each, however slow they are, and a slow one slows all. LTE: proportional
/// fair, which without fading is equal time, up and down apart.
///
/// Where it breaks down: no fading, shadowing, interference of other cells, collisions or capture;
/// a base sends as many turns to each station as that station sends; one scheme for all that is
/// sent at one distance.
namespace gradwire::sim {

struct Station {
  NodeId node = 0;
  double distance = 10;  ///< from the base at time 0, m; nearer than 1 m counts as 1 m
  double speed = 0;      ///< m/s, straight away from the base; < 0: to it, and past it
};

struct Cell {
  enum class Kind : std::uint8_t { kWifi, kLte };
  Kind kind = Kind::kWifi;
  NodeId base = 0;
  std::vector<Station> stations;
  double width = 80e6;    ///< Hz; Wi-Fi: 20, 40, 80, 160 MHz; LTE: 1.4, 3, 5, 10, 15, 20, each way
  double exponent = 3.0;  ///< n of the path loss
};

/// What every cell of a kind is assumed to have.
struct Radio {
  double station_power = 0;   ///< dBm
  double base_power = 0;      ///< dBm
  double station_noise = 0;   ///< noise figure, dB
  double base_noise = 0;      ///< dB
  double reference_loss = 0;  ///< L_1: path loss at 1 m, dB
  Seconds delay{0};           ///< one way: until its turn, and through the base
};
const Radio& radio_of(Cell::Kind kind);

// Fitted to one station that sends 8 MB, 20 and 80 MHz, 3 to 50 m from the base.
inline constexpr double kWifiTurn = 0.38e-3;  ///< s: channel access, preambles, acknowledgements
inline constexpr double kWifiFraming = 1.13;
inline constexpr double kWifiTurnBytes = 65535;
inline constexpr double kWifiTurnTime = 5.484e-3;  ///< s

/// Throws SimError for a cell that no network can have; `names`: of the nodes.
void check_cell(const Cell& cell, const std::vector<std::string>& names);

/// m: of the station from its base at `time`, s.
double distance_at(const Station& station, double time);

/// Bits per second of what a station sends or gets while it has the air; 0: out of range.
double air_rate(const Cell& cell, double distance, bool up);
/// Bits per second of a station that is served alone, with what each turn costs.
double alone_rate(const Cell& cell, double distance, bool up);
/// Bytes of a turn of a station that would get `alone` bits per second.
double turn_bytes(Cell::Kind kind, double alone);

/// The station's link to its base (a: the station): rate and schedules are what it would get alone,
/// as it moves. Throws SimError for a station that is out of range for ever.
LinkSpec station_link(const Cell& cell, const Station& station, const std::string& name);

}  // namespace gradwire::sim
