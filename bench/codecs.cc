#include "bench/codecs.h"

#include <algorithm>
#include <map>
#include <memory>

#include "bench/codec_run.h"
#include "compressors/instruction_sets.h"

namespace gradwire::bench {
namespace {

constexpr std::size_t kShared = 512 << 10;  // bytes; smaller tensors are not shared by threads
constexpr std::size_t kRoofFrom = 64 << 20;
constexpr std::size_t kCyclesFrom = 16 << 10, kCyclesTo = 1 << 20;
constexpr double kSmallLasting = 0.01;  // s, for calls that are short

/// The operations that differ from the plain case's of the same codec.
std::vector<Operation> operations_of(const CodecCase& codec_case) {
  if (codec_case.label != codec_case.codec) return {Operation::kEncode};
  return {std::begin(kOperations), std::end(kOperations)};
}

class CodecBench {
 public:
  CodecBench(const CodecBenchSettings& settings,
             const std::function<void(const CodecBenchProgress&)>& progress)
      : settings_(settings), progress_(progress), cases_(codec_cases(settings.codecs)) {
    for (const std::size_t bytes : settings.sizes)
      for (const int threads : settings.threads) all_ += is_shared(bytes, threads) * cases_.size();
  }

  CodecBenchResult run() {
    result_.instructions = compressors::instruction_set();
    measure_clock();
    for (const std::size_t bytes : settings_.sizes) {
      Tensors tensors(std::max<std::size_t>(bytes / 4, 1), settings_.seed);
      for (const int threads : settings_.threads)
        if (is_shared(bytes, threads)) measure_size(tensors, threads);
    }
    return std::move(result_);
  }

 private:
  static bool is_shared(std::size_t bytes, int threads) { return threads == 1 || bytes >= kShared; }

  void measure_clock() {
    Rounds rounds;
    rounds.add(run_addition_chain);
    rounds.run(9, kSmallLasting);
    result_.clock_ghz = 1e-9 * kChainCycles / rounds.seconds(0);
  }

  void measure_size(Tensors& tensors, int threads) {
    ThreadTeam team(threads);
    const auto pinned = settings_.pin && threads == 1 ? std::make_unique<PinnedThread>() : nullptr;
    for (const CodecCase& codec_case : cases_) {
      tell(codec_case, tensors, threads);
      ++done_;
      if (!affordable(codec_case, tensors.elements(), threads)) continue;
      try {
        measure(codec_case, tensors, threads == 1 ? nullptr : &team);
      } catch (const Error& error) {
        result_.failures.push_back(codec_case.label + ", " + size_text(4 * tensors.elements()) +
                                   ": " + error.what());
      }
    }
  }

  void tell(const CodecCase& codec_case, const Tensors& tensors, int threads) const {
    const double passed = now_s() - start_;
    const double left = std::max(0.0, settings_.seconds - passed);
    progress_({done_, all_, left,
               codec_case.label + " " + size_text(4 * tensors.elements()) + ", " +
                   std::to_string(threads) + (threads == 1 ? " thread" : " threads")});
  }

  /// Whether what this case took at a smaller size lets it fit the time that is left.
  bool affordable(const CodecCase& codec_case, std::size_t n, int threads) {
    const auto seen = element_seconds_.find(codec_case.label);
    const double left = settings_.seconds - (now_s() - start_);
    const double share = left / static_cast<double>(all_ - done_ + 1);
    const double rounds = settings_.repetitions + 2;
    const double needed =
        seen == element_seconds_.end() ? 0 : rounds * seen->second * static_cast<double>(n);
    if (left > 0 && needed < std::max(20 * share, 0.5)) return true;
    result_.left_out.push_back(codec_case.label + ", " + size_text(4 * n) + ", " +
                               std::to_string(threads) + " threads: no time (--seconds)");
    return false;
  }

  void measure(const CodecCase& codec_case, Tensors& tensors, ThreadTeam* team);
  void keep_points(const CodecCase& codec_case, const Rounds& rounds, const CodecRun& run,
                   double density, std::size_t n, ThreadTeam* team, const Roof* roof,
                   double cycle_s);

  const CodecBenchSettings& settings_;
  const std::function<void(const CodecBenchProgress&)>& progress_;
  std::vector<CodecCase> cases_;
  CodecBenchResult result_ = {};
  double start_ = now_s();
  std::size_t done_ = 0, all_ = 0;
  std::map<std::string, double> element_seconds_ = {};  ///< of all operations of a case
};

void CodecBench::measure(const CodecCase& codec_case, Tensors& tensors, ThreadTeam* team) {
  const std::size_t n = tensors.elements(), bytes = 4 * n;
  CodecRun run(codec_case, tensors, team);
  run.encode();
  run.decode();
  const double density = run.density();
  Rounds rounds;
  const auto operations = operations_of(codec_case);
  for (const Operation operation : operations)
    rounds.add([&run, operation] { run.call(operation); });
  std::optional<Roof> roof;
  if (bytes >= kRoofFrom)
    roof.emplace(tensors.input(codec_case.tensor, team), tensors.values(), team, rounds);
  const bool cycles = team == nullptr && bytes >= kCyclesFrom && bytes <= kCyclesTo;
  const std::size_t chain = cycles ? rounds.add(run_addition_chain) : 0;
  rounds.run(settings_.repetitions, bytes <= kCyclesTo ? kSmallLasting : 0);
  keep_points(codec_case, rounds, run, density, n, team, roof ? &*roof : nullptr,
              cycles ? rounds.seconds(chain) / kChainCycles : 0);
}

void CodecBench::keep_points(const CodecCase& codec_case, const Rounds& rounds, const CodecRun& run,
                             double density, std::size_t n, ThreadTeam* team, const Roof* roof,
                             double cycle_s) {
  const int threads = team == nullptr ? 1 : team->size();
  double sum = 0;
  const auto operations = operations_of(codec_case);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    CodecPoint point{codec_case.label, operations[i], 4 * n, threads, rounds.seconds(i)};
    point.traffic = traffic_of(codec_case, operations[i], run.payload_bytes_per_element(), density);
    if (roof) point.roof_share = roof->seconds(point.traffic, n) / point.call_s;
    if (cycle_s > 0) point.cycles = point.call_s / cycle_s / static_cast<double>(n);
    sum += point.call_s;
    result_.points.push_back(std::move(point));
  }
  element_seconds_[codec_case.label] = sum / static_cast<double>(n);
  if (roof) result_.roofs.push_back({4 * n, threads, roof->speeds()});
}

}  // namespace

CodecBenchResult bench_codecs(const CodecBenchSettings& settings,
                              const std::function<void(const CodecBenchProgress&)>& progress) {
  return CodecBench(settings, progress).run();
}

}  // namespace gradwire::bench
