#include "bench/rows/timing.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "base/error.h"

namespace gradwire::bench {
namespace {

constexpr double kSampleSeconds = 20e-6;  // the clock's own cost is 1/1000 of it
constexpr double kLong = 50e-3;           // what lasts longer is always interrupted, but by little

/// How often the system took a processor from one of this process's threads.
long times_interrupted() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  GRADWIRE_ASSERT(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::size_t Rounds::add(std::function<void()> call) {
  timed_.push_back({std::move(call)});
  return timed_.size() - 1;
}

double Rounds::sample_s(const Timed& timed) {
  const double start = now_s();
  for (std::size_t i = 0; i < timed.per_sample; ++i) timed.call();
  return (now_s() - start) / static_cast<double>(timed.per_sample);
}

// The first calls touch pages, choose kernels and wake threads.
void Rounds::warm_up(Timed& timed) {
  timed.call();
  const double once = sample_s(timed);
  if (once >= kSampleSeconds) return;
  timed.per_sample = 4;
  const double more = std::max(sample_s(timed), 1e-9);
  timed.per_sample = static_cast<std::size_t>(std::ceil(kSampleSeconds / more));
}

void Rounds::take(Timed& timed) {
  const long before = times_interrupted();
  const double seconds = sample_s(timed);
  const bool interrupted = times_interrupted() != before;
  ++samples_;
  interrupted_ += interrupted;
  (interrupted && seconds < kLong ? timed.disturbed : timed.samples).push_back(seconds);
}

bool Rounds::all_have(int repetitions) const {
  return std::all_of(timed_.begin(), timed_.end(), [&](const Timed& timed) {
    return timed.samples.size() >= static_cast<std::size_t>(repetitions);
  });
}

void Rounds::run(int repetitions, double lasting_s) {
  for (Timed& timed : timed_) warm_up(timed);
  enough_ = static_cast<std::size_t>(repetitions + 1) / 2;
  const double end = now_s() + lasting_s;
  const auto enough = [&](int round) {
    if (round < repetitions || now_s() < end) return false;
    return all_have(repetitions) || round >= 2 * repetitions;
  };
  for (int round = 0; !enough(round); ++round)
    for (Timed& timed : timed_) take(timed);
}

double Rounds::seconds(std::size_t call) const {
  const Timed& timed = timed_[call];
  if (timed.samples.size() >= enough_) return median(timed.samples);
  std::vector<double> all = timed.samples;
  all.insert(all.end(), timed.disturbed.begin(), timed.disturbed.end());
  return median(std::move(all));
}

PinnedThread::PinnedThread() {
  cpu_set_t previous, here;
  const int cpu = ::sched_getcpu();
  if (cpu < 0 || ::sched_getaffinity(0, sizeof previous, &previous) != 0) return;
  CPU_ZERO(&here);
  CPU_SET(static_cast<unsigned>(cpu), &here);
  if (::sched_setaffinity(0, sizeof here, &here) != 0) return;
  previous_.resize(sizeof previous);
  std::memcpy(previous_.data(), &previous, sizeof previous);
}

PinnedThread::~PinnedThread() {
  if (previous_.empty()) return;
  cpu_set_t previous;
  std::memcpy(&previous, previous_.data(), sizeof previous);
  ::sched_setaffinity(0, sizeof previous, &previous);
}

void run_addition_chain() {
  // Register plus register: additions of constants can vanish when they are renamed.
  std::size_t sum = 1, step = 3;
  for (std::size_t i = 0; i < kChainCycles / 32; ++i) {
#pragma GCC unroll 32
    for (int j = 0; j < 32; ++j) {
      sum += step;
      asm volatile("" : "+r"(sum), "+r"(step));
    }
  }
}

std::size_t last_level_cache_bytes() {
  for (const int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
    if (const long bytes = ::sysconf(level); bytes > 0) return static_cast<std::size_t>(bytes);
  return 0;
}

}  // namespace gradwire::bench
