#include "sim/cluster/cell.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>

#include "sim/cluster/wifi_schemes.h"
#include "sim/sim_error.h"

namespace gradwire::sim {
namespace {

constexpr double kLteBlock = 180e3;  // Hz
constexpr double kHeSymbol = 16e-6;  // s, with a guard interval of 3.2 us
// Of the air rate, what ns-3's proportional fair scheduler carries (fitted to `packet`).
constexpr double kLteKept = 0.93;
// ns-3 picks a CQI by Piro's formula up, and by tables of block errors down: these take so many dB
// less (5 to 20 MHz, one phone at 100 to 360 m: 2.8 to 4.1 for CQI 9 to 15).
constexpr double kLteDownGain = 3.54;

/// A modulation and coding scheme: from this SNR on, so many bits a carrier and symbol (Wi-Fi) or
/// so many bits a second and Hz (LTE).
struct Scheme {
  double snr = 0;  ///< dB
  double bits = 0;
};

// 802.11ax, MCS 0 to 11, from where on ns-3's IdealWifiManager takes them (a bit error rate of
// 1e-6; one station, to 0.05 dB).
constexpr std::array<Scheme, 12> kHe{{{1.0, 0.5},
                                      {4.48, 1.0},
                                      {7.00, 1.5},
                                      {10.40, 2.0},
                                      {13.51, 3.0},
                                      {17.90, 4.0},
                                      {19.13, 4.5},
                                      {20.78, 5.0},
                                      {24.53, 6.0},
                                      {25.91, 20.0 / 3},
                                      {32.81, 7.5},
                                      {34.71, 25.0 / 3}}};

/// CQI 1 to 15: efficiency (TS 36.213, table 7.2.3-1), and bits of the largest transport block of
/// at most that efficiency in 1 ms and 50 blocks (tables 7.1.7.1-1 and 7.1.7.2.1-1). Up three are
/// larger: other indices change the modulation there (table 8.6.1-1).
struct Cqi {
  double efficiency = 0;
  double block = 0;
  double up = block;
};
constexpr std::array<Cqi, 15> kCqi{{{0.1523, 1384},
                                    {0.2344, 2216},
                                    {0.3770, 3624},
                                    {0.6016, 5160},
                                    {0.8770, 6968},
                                    {1.1758, 7992, 8760},
                                    {1.4766, 9912},
                                    {1.9141, 12960},
                                    {2.4063, 15264},
                                    {2.7305, 16416, 18336},
                                    {3.3223, 19848, 21384},
                                    {3.9023, 22920},
                                    {4.5234, 27376},
                                    {5.1152, 30576},
                                    {5.5547, 36696}}};
constexpr double kBlockHertzSeconds = 50 * kLteBlock * 1e-3;

struct Width {
  double hertz = 0;
  double carriers = 0;  ///< Wi-Fi: of data; LTE: blocks up
  double down = 0;      ///< LTE: blocks that come in whole groups (TS 36.213, table 7.1.6.1-1)
};
constexpr std::array<Width, 4> kWifiWidths{
    {{20e6, 234, 234}, {40e6, 468, 468}, {80e6, 980, 980}, {160e6, 1960, 1960}}};
constexpr std::array<Width, 6> kLteWidths{{{1.4e6, 6, 6},
                                           {3e6, 15, 14},
                                           {5e6, 25, 24},
                                           {10e6, 50, 48},
                                           {15e6, 75, 72},
                                           {20e6, 100, 100}}};

std::span<const Width> widths_of(Cell::Kind kind) {
  if (kind == Cell::Kind::kWifi) return kWifiWidths;
  return kLteWidths;
}

/// Carriers or blocks; 0 if the kind has no such width.
double carriers_of(Cell::Kind kind, double hertz, bool up) {
  for (const Width& width : widths_of(kind)) {
    if (std::abs(width.hertz - hertz) < 1) return up ? width.carriers : width.down;
  }
  return 0;
}

/// SNR in dB from which LTE reaches that efficiency.
double lte_snr(double efficiency) {
  const double gap = -std::log(5 * 5e-5) / 1.5;
  return 10 * std::log10((std::exp2(efficiency) - 1) * gap);
}

/// The same up, where ns-3's base knows efficiencies to a hundredth, and is told eighths of a dB,
/// rounded down.
double lte_snr_up(double efficiency) {
  return std::ceil(8 * lte_snr(std::round(100 * efficiency) / 100)) / 8;
}

std::vector<Scheme> schemes_of(Cell::Kind kind, bool up) {
  if (kind == Cell::Kind::kWifi) return {kHe.begin(), kHe.end()};
  std::vector<Scheme> schemes;
  for (const Cqi& cqi : kCqi) {
    const double snr = up ? lte_snr_up(cqi.efficiency) : lte_snr(cqi.efficiency) - kLteDownGain;
    schemes.push_back({snr, (up ? cqi.up : cqi.block) / kBlockHertzSeconds});
  }
  return schemes;
}

/// Of the link at 1 m, dB.
double near_snr(const Cell& cell, bool up) {
  const Radio& radio = radio_of(cell.kind);
  const double power = up ? radio.station_power : radio.base_power;
  const double hertz = cell.kind == Cell::Kind::kLte
                           ? kLteBlock * carriers_of(Cell::Kind::kLte, cell.width, true)
                           : cell.width;
  const double noise =
      -174 + 10 * std::log10(hertz) + (up ? radio.base_noise : radio.station_noise);
  return power - radio.reference_loss - noise;
}

/// How far a scheme reaches, m.
double reach(const Cell& cell, double snr, bool up) {
  return std::pow(10, (near_snr(cell, up) - snr) / (10 * cell.exponent));
}

double alone(const Cell& cell, double air) {
  if (cell.kind == Cell::Kind::kLte) return air * kLteKept;
  if (air <= 0) return 0;
  const double bits = 8 * std::min(kWifiTurnBytes, kWifiTurnTime * air / 8);
  return bits / (kWifiFraming * bits / air + kWifiTurn);
}

/// When a moving station crosses the edge of a scheme's reach, ascending, from 0 on.
std::set<double> crossings(const Cell& cell, const Station& station, bool up) {
  std::set<double> times{0};
  for (const Scheme& scheme : schemes_of(cell.kind, up)) {
    const double edge = std::max(1.0, reach(cell, scheme.snr, up));
    for (const double place : {edge, -edge}) {
      const double time = (place - station.distance) / station.speed;
      if (time > 0) times.insert(time);
    }
  }
  return times;
}

/// Null: out of range for ever. Rates between crossings are those of their middle.
RateSchedulePtr schedule_of(const Cell& cell, const Station& station, const std::string& name,
                            bool up) {
  if (station.speed == 0) {
    const double rate = alone_rate(cell, station.distance, up);
    if (rate <= 0) return nullptr;
    return RateSchedule::from_pieces(name, {{Seconds(0), BitsPerSecond(rate)}}, Seconds(0));
  }
  const std::set<double> times = crossings(cell, station, up);
  std::vector<RateSchedule::Piece> pieces;
  for (auto begin = times.begin(); begin != times.end(); ++begin) {
    const auto end = std::next(begin);
    const double middle = end == times.end() ? *begin + 1 : (*begin + *end) / 2;
    const double rate = alone_rate(cell, distance_at(station, middle), up);
    if (pieces.empty() || pieces.back().rate.value() != rate) {
      pieces.push_back({Seconds(*begin), BitsPerSecond(rate)});
    }
  }
  const bool passes = std::any_of(pieces.begin(), pieces.end(),
                                  [](const auto& piece) { return piece.rate.value() > 0; });
  return passes ? RateSchedule::fading(name, std::move(pieces)) : nullptr;
}

[[noreturn]] void refuse(const std::string& subject, std::string_view reason,
                         std::string_view remedy) {
  throw SimError("use", subject, reason, remedy);
}

}  // namespace

const Radio& radio_of(Cell::Kind kind) {
  // Wi-Fi: 16 dBm, noise figure 7 dB and 46.7 dB at 1 m (free space at 5.15 GHz), as ns-3 has them.
  // LTE: a small cell of 30 dBm, phones of 23 dBm (class 3), noise figures of 5 and 9 dB, free
  // space at 2.1 GHz.
  static const Radio wifi{16.0206, 16.0206, 7, 7, 46.6777, Seconds(0.2e-3)};
  static const Radio lte{23, 30, 9, 5, 38.9, Seconds(5e-3)};
  return kind == Cell::Kind::kWifi ? wifi : lte;
}

void check_cell(const Cell& cell, const std::vector<std::string>& names) {
  const auto known = [&](NodeId n) { return n >= 0 && n < static_cast<NodeId>(names.size()); };
  if (!known(cell.base)) refuse("a radio cell", "its base is no node", "add the base first");
  const std::string subject = "the radio cell of " + names[static_cast<std::size_t>(cell.base)];
  if (cell.stations.empty()) refuse(subject, "it has no station", "add at least one");
  if (carriers_of(cell.kind, cell.width, true) <= 0) {
    refuse(
        subject, "no such width exists",
        cell.kind == Cell::Kind::kWifi ? "20, 40, 80 or 160 MHz" : "1.4, 3, 5, 10, 15 or 20 MHz");
  }
  if (!(cell.exponent >= 1) || !(cell.exponent <= 10)) {
    refuse(subject, "its path loss exponent is not in 1..10", "2 is free space, 3 a building");
  }
  std::set<NodeId> seen{cell.base};
  for (const Station& station : cell.stations) {
    if (!known(station.node)) refuse(subject, "a station is no node", "add its hosts first");
    const std::string& name = names[static_cast<std::size_t>(station.node)];
    if (!seen.insert(station.node).second) {
      refuse(subject, name + " stands twice in it", "list each station once");
    }
    if (!std::isfinite(station.distance) || station.distance < 0 || !std::isfinite(station.speed)) {
      refuse(subject, name + " is at no place", "give a distance of 0 m or more");
    }
  }
}

double distance_at(const Station& station, double time) {
  return std::abs(station.distance + station.speed * time);
}

double air_rate(const Cell& cell, double distance, bool up) {
  double bits = 0;
  for (const Scheme& scheme : schemes_of(cell.kind, up)) {
    if (std::max(1.0, distance) <= reach(cell, scheme.snr, up)) bits = scheme.bits;
  }
  const double carriers = carriers_of(cell.kind, cell.width, up);
  return cell.kind == Cell::Kind::kWifi ? carriers * bits / kHeSymbol : carriers * kLteBlock * bits;
}

double wifi_scheme_snr(const Cell& cell, double air_rate) {
  const double bits = air_rate * kHeSymbol / carriers_of(cell.kind, cell.width, true);
  double snr = kHe.front().snr;
  for (const Scheme& scheme : kHe)
    if (bits >= scheme.bits * (1 - 1e-9)) snr = scheme.snr;
  return snr;
}

double wifi_rate_at(const Cell& cell, double snr) {
  double bits = 0;
  for (const Scheme& scheme : kHe)
    if (snr >= scheme.snr) bits = scheme.bits;
  return carriers_of(cell.kind, cell.width, true) * bits / kHeSymbol;
}

double alone_rate(const Cell& cell, double distance, bool up) {
  return alone(cell, air_rate(cell, distance, up));
}

double turn_bytes(Cell::Kind kind, double alone) {
  if (kind == Cell::Kind::kLte) return alone / 8 * 1e-3;
  return std::min(kWifiTurnBytes, alone / 8 * (kWifiFraming * kWifiTurnTime + kWifiTurn));
}

LinkSpec station_link(const Cell& cell, const Station& station, const std::string& name) {
  LinkSpec spec;
  spec.delay = radio_of(cell.kind).delay;
  spec.schedule = schedule_of(cell, station, "the way of " + name + " to its base", true);
  spec.schedule_back = schedule_of(cell, station, "the way of " + name + " from its base", false);
  if (!spec.schedule || !spec.schedule_back) {
    refuse("station " + name,
           "at " + std::to_string(static_cast<std::int64_t>(station.distance)) +
               " m it is out of its base's range for ever",
           "put it nearer, or use a narrower channel");
  }
  for (const RateSchedulePtr& way : {spec.schedule, spec.schedule_back}) {
    const auto& pieces = way->pieces();
    const auto first = std::find_if(pieces.begin(), pieces.end(),
                                    [](const auto& piece) { return piece.rate.value() > 0; });
    spec.rate = std::max(way == spec.schedule ? BitsPerSecond(0) : spec.rate, first->rate);
  }
  return spec;
}

}  // namespace gradwire::sim
