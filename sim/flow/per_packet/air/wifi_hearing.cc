// Who hears what of a Wi-Fi cell's frames.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "sim/flow/per_packet/air/wifi_air.h"
#include "sim/flow/per_packet/air/wifi_frames.h"

namespace gradwire::sim {

using namespace wifi;

/// mW.
double WifiAir::power(std::size_t from, std::size_t to, double now) const {
  if (!powers_.empty()) return powers_[from * nodes_.size() + to];
  const auto place = [&](std::size_t node) -> std::complex<double> {
    if (node == 0) return 0;
    const double part = static_cast<double>(node - 1) / static_cast<double>(cell_.stations.size());
    return std::polar(1.0, 2 * std::numbers::pi * part) *
           distance_at(cell_.stations[node - 1], session(now));
  };
  const Radio& radio = radio_of(Cell::Kind::kWifi);
  const double distance = std::max(1.0, std::abs(place(from) - place(to)));
  const double loss = radio.reference_loss + 10 * cell_.exponent * std::log10(distance);
  return from_decibels((from == 0 ? radio.base_power : radio.station_power) - loss);
}

double WifiAir::noise(double width) {
  static const double per_hertz =
      from_decibels(kThermalNoise + radio_of(Cell::Kind::kWifi).base_noise);
  return width * per_hertz;
}

/// Ratio to noise and all else at its receiver, x Hz.
double WifiAir::signal_of(const Frame& frame, double now) const {
  double others = 0;
  for (const Frame& other : frames_)
    if (other.number != frame.number) others += power(other.from, frame.to, now);
  return power(frame.from, frame.to, now) / (noise(frame.width) + others) * frame.width;
}

bool WifiAir::hears_energy(std::size_t node, double now) const {
  double energy = 0;
  for (const Frame& frame : frames_) energy += power(frame.from, node, now);
  return energy > kEnergy;
}

bool WifiAir::is_busy(std::size_t number, double now) const {
  const Node& node = nodes_[number];
  return node.sends || node.hears > 0 || now < node.covered_until ||
         (!frames_.empty() && hears_energy(number, now));
}

/// s: until when what others send now keeps a node busy that has not taken it up.
double WifiAir::covered_until(std::size_t number, double now) const {
  std::vector<std::pair<double, double>> heard;  // ends, and powers
  double energy = 0;
  for (const Frame& frame : frames_) {
    if (frame.from == number) continue;
    heard.emplace_back(frame.end, power(frame.from, number, now));
    energy += heard.back().second;
  }
  std::ranges::sort(heard);
  double until = 0;
  for (const auto& [end, here] : heard) {
    if (energy < kSensitivity) break;
    until = end;
    energy -= here;
  }
  return until;
}

/// Frames that begin at one instant.
void WifiAir::begin(double now, std::vector<Frame> frames) {
  if (frames.empty()) return;
  if (frames_.empty()) busy_since_ = now;
  const std::size_t before = frames_.size();
  for (Frame& frame : frames) {
    frame.number = ++frame_numbers_;
    nodes_[frame.from].sends = true;
    frames_.push_back(frame);
  }
  for (std::size_t j = 0; j < nodes_.size(); ++j) {
    Node& node = nodes_[j];
    if (node.sends) {
      node.covered_until = std::max(node.covered_until, covered_until(j, now));
      continue;
    }
    double all = 0, strongest = 0;
    const Frame* taken = nullptr;
    for (std::size_t f = 0; f < frames_.size(); ++f) {
      const double here = power(frames_[f].from, j, now);
      all += here;
      const bool mine =
          node.hears > 0 ? frames_[f].number == node.hears : f >= before && here > strongest;
      if (!mine) continue;
      taken = &frames_[f];
      strongest = here;
    }
    if (!taken) continue;
    const double others = all - strongest;
    const double ratio = strongest / (noise(taken->width) + others);
    if (node.hears > 0) {
      node.ratio = std::min(node.ratio, ratio);
    } else if (strongest >= kTaken * (noise(kControlWidth) + others)) {
      node.hears = taken->number;
      node.ratio = ratio;
    } else {
      node.covered_until = std::max(node.covered_until, covered_until(j, now));
    }
  }
  look_around(now);
}

/// Who is busy now, and was not, or the other way round.
void WifiAir::look_around(double now) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    const bool busy = is_busy(i, now);
    if (busy == node.was_busy) continue;
    if (busy) {
      count_down(node, now);
    } else {
      node.grant = std::max(node.grant, now + kAifs);
    }
    node.was_busy = busy;
  }
}

void WifiAir::end(const Frame& frame) {
  const double now = frame.end;
  if (frames_.empty()) busy_ += now - busy_since_;
  Node& from = nodes_[frame.from];
  from.sends = false;
  const bool one = frame.packets == 1;
  const double response = one ? kAck : kBlockAck;
  bool heard = false;
  for (std::size_t j = 0; j < nodes_.size(); ++j) {
    Node& node = nodes_[j];
    if (node.hears != frame.number) continue;
    node.hears = 0;
    const bool reads = node.ratio >= frame.need;
    if (j != frame.to) {
      // The sender's announcement covers the response.
      const double more = !reads ? kEifsMore : frame.acknowledges ? 0 : kSifs + response;
      node.grant = std::max(node.grant, now + kAifs + more);
      continue;
    }
    heard = frame.acknowledges || frame.packets == 0 ? reads : from.arrived > 0;
    if (!heard) node.grant = std::max(node.grant, now + kAifs + kEifsMore);
  }
  look_around(now);
  if (frame.acknowledges) {
    if (nodes_[frame.to].awaits) heard ? succeed(frame.to, now, frame.signal) : fail(frame.to, now);
    return;
  }
  if (heard) {
    dues_.push_back({now + kSifs, frame.to, frame.from, response, 0, frame.signal});
  } else {
    dues_.push_back({now + kSifs + kSlot + kLegacyPreamble, frame.from, frame.to, 0, from.turn, 0});
  }
}

}  // namespace gradwire::sim
