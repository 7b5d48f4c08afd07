#pragma once
#include <cstddef>
#include <functional>
#include <vector>

/// Timing of calls that take turns, so that what drifts on the machine drifts for all of them.
namespace gradwire::bench {

/// Seconds of a clock that never jumps.
double now_s();

/// Middle value; `values` is not empty.
double median(std::vector<double> values);

/// Calls measured in rounds: each round times every call once (short ones in a loop that lasts long
/// enough for the clock). Figures are medians over the rounds. A sample during which the system
/// gave the processor to somebody else is set aside, unless fewer than half of those asked for are
/// left.
class Rounds {
 public:
  /// Returns the call's number.
  std::size_t add(std::function<void()> call);
  std::size_t size() const { return timed_.size(); }

  /// Warms up, then measures until every call has `repetitions` samples (or twice as many
  /// rounds have passed on a machine that keeps being disturbed), and `lasting_s` seconds have
  /// passed. May be called once.
  void run(int repetitions, double lasting_s);

  /// Median seconds of one call.
  double seconds(std::size_t call) const;

  std::size_t samples() const { return samples_; }
  /// How many of them the system interrupted, whether set aside or not.
  std::size_t interrupted() const { return interrupted_; }

 private:
  struct Timed {
    std::function<void()> call;
    std::size_t per_sample = 1;
    std::vector<double> samples = {};
    std::vector<double> disturbed = {};
  };
  static double sample_s(const Timed& timed);
  static void warm_up(Timed& timed);
  void take(Timed& timed);
  bool all_have(int repetitions) const;

  std::vector<Timed> timed_;
  std::size_t enough_ = 1;  ///< undisturbed samples
  std::size_t samples_ = 0, interrupted_ = 0;
};

/// Keeps the calling thread on the processor where it is, as long as this lives. Does nothing where
/// the system has no such call, or refuses it.
class PinnedThread {
 public:
  PinnedThread();
  ~PinnedThread();
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;

 private:
  std::vector<unsigned char> previous_;  ///< cpu_set_t; empty = nothing to restore
};

/// A chain of additions that each need the one before: takes exactly this many clock cycles.
inline constexpr std::size_t kChainCycles = 16384;
void run_addition_chain();

/// Bytes of the largest cache of one processor; 0 where the system does not say.
std::size_t last_level_cache_bytes();

}  // namespace gradwire::bench
