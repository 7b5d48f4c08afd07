#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/philox.h"
#include "bench/fidelity/regimes.h"

/// What the generators of cases have in common.
namespace gradwire::bench {

/// What one case draws.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint32_t regime, int number)
      : stream_{seed, static_cast<std::uint32_t>(number), regime, kFirstReservedTensor} {}

  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(gradwire::uniform(stream_, next_++));
  }
  double log_uniform(double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  }
  int integer(int low, int high) {
    return std::min(high, low + static_cast<int>(uniform(0, high - low + 1)));
  }
  Bytes bytes(double low, double high) { return Bytes(std::llround(log_uniform(low, high))); }
  bool chance(double p) { return uniform(0, 1) < p; }

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

/// "12.3 Mbps"
std::string words(double value, const char* unit);
/// A quantity of a scenario: "1.23457e+07bps".
std::string with_unit(double value, const char* unit, int digits = 6);
std::string describe(const sim::LinkSpec& link, double round_trip, double loss, Bytes bytes);
/// Pairs of hosts, each with links of its own, on one switch.
FidelityCase pairs(sim::LinkSpec link, double round_trip, Bytes bytes, int pairs);
/// Reno in three cases of ten.
void draw_control(Draws& draws, Experiment& experiment);
/// BBR, whatever was drawn.
void use_bbr(Experiment& experiment);
/// Of workers 0 to workers - 1, and so many bytes where it adds up; two-level: in groups of four.
sim::CollectiveSpec collective_of(sim::CollectiveKind kind, int workers, Bytes bytes);
/// All of these send to one host at the same time.
FidelityCase incast_of(int senders, const sim::LinkSpec& link, double round_trip, Bytes bytes);

/// `count` cases, each with draws of its own.
template <typename Draw>
std::vector<FidelityCase> cases_of(std::uint64_t seed, std::uint32_t regime, int count, Draw draw) {
  std::vector<FidelityCase> cases;
  for (int i = 0; i < count; ++i) {
    Draws draws(seed, regime, i);
    cases.push_back(draw(draws, i));
  }
  return cases;
}

}  // namespace gradwire::bench
