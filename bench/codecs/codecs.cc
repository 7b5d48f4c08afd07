#include "bench/codecs/codecs.h"

#include <algorithm>
#include <map>
#include <memory>

#include "bench/codecs/codec_run.h"
#include "bench/codecs/torch_module.h"
#include "compressors/instruction_sets.h"

namespace gradwire::bench {
namespace {

constexpr std::size_t kShared = 512 << 10;  // bytes; smaller tensors are not shared by threads
constexpr std::size_t kRoofFrom = 64 << 20;
constexpr std::size_t kCyclesFrom = 16 << 10, kCyclesTo = 1 << 20;
constexpr std::size_t kTwinsFrom = 1 << 20, kTwinsTo = 64 << 20;
constexpr double kSmallLasting = 0.01;  // s, for calls that are short

std::vector<CodecOperation> operations_of(const CodecCase& codec_case) {
  if (codec_case.encode_only) return {CodecOperation::kEncode};
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
    if (settings_.twins && !why_no_torch_twins().empty())
      result_.left_out.push_back("LibTorch's operations: " + why_no_torch_twins());
    for (const std::size_t bytes : settings_.sizes) {
      Tensors tensors(std::max<std::size_t>(bytes / 4, 1), settings_.seed);
      for (const int threads : settings_.threads)
        if (is_shared(bytes, threads)) measure_size(tensors, threads);
    }
    if (settings_.coders) result_.coders = bench_coders(settings_.repetitions);
    for (const auto& [place, labels] : no_time_)
      result_.left_out.push_back(place + ", no time (--seconds):" + labels);
    if (samples_ > 0)
      result_.interrupted = static_cast<double>(interrupted_) / static_cast<double>(samples_);
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
    no_time_[size_text(4 * n) + " on " + std::to_string(threads) + " threads"] +=
        " " + codec_case.label;
    return false;
  }

  void measure(const CodecCase& codec_case, Tensors& tensors, ThreadTeam* team);

  const CodecBenchSettings& settings_;
  const std::function<void(const CodecBenchProgress&)>& progress_;
  std::vector<CodecCase> cases_;
  CodecBenchResult result_ = {};
  double start_ = now_s();
  std::size_t done_ = 0, all_ = 0;
  std::map<std::string, std::string> no_time_ = {};  ///< labels by size and threads
  std::size_t samples_ = 0, interrupted_ = 0;
  std::map<std::string, double> element_seconds_ = {};  ///< of all operations of a case
};

/// One case at one size: our operations, LibTorch's, the roof's loops and the clock, in turns.
class Measurement {
 public:
  Measurement(const CodecCase& codec_case, Tensors& tensors, ThreadTeam* team)
      : case_(codec_case),
        tensors_(tensors),
        team_(team),
        operations_(operations_of(codec_case)),
        run_(codec_case, tensors, team) {
    run_.encode();
    run_.decode();
    density_ = run_.density();
    for (const CodecOperation operation : operations_)
      rounds_.add([this, operation] { run_.call(operation); });
  }
  void add_roof() {
    roof_.emplace(tensors_.input(case_.tensor, team_), tensors_.values(), team_, rounds_);
  }
  void add_clock() { chain_ = rounds_.add(run_addition_chain); }
  void add_twin();
  void run(int repetitions, double lasting_s) {
    rounds_.run(repetitions, lasting_s);
    if (twin_) twin_rounds_.run(repetitions, 0);
  }

  const Rounds& rounds() const { return rounds_; }
  std::vector<CodecPoint> points() const;
  std::optional<RoofPoint> roof() const {
    if (!roof_) return {};
    return RoofPoint{4 * elements(), threads(), roof_->speeds()};
  }

 private:
  std::size_t elements() const { return tensors_.elements(); }
  int threads() const { return team_ == nullptr ? 1 : team_->size(); }

  const CodecCase& case_;
  Tensors& tensors_;
  ThreadTeam* team_;
  std::vector<CodecOperation> operations_;
  CodecRun run_;
  double density_ = 0;
  std::unique_ptr<TorchTwin> twin_;
  Rounds rounds_;
  Rounds
      twin_rounds_;  // apart: LibTorch takes memory from the system and gives it back in each call
  std::optional<Roof> roof_;
  std::optional<std::size_t> chain_;
};

void Measurement::add_twin() {
  const std::span<const float> input = tensors_.input(case_.tensor, team_);
  twin_ = make_torch_twin({.label = case_.label.c_str(),
                           .values = input.data(),
                           .rows = run_.shape()[0],
                           .columns = run_.shape()[1],
                           .threads = threads()});
  if (!twin_) return;
  for (const CodecOperation operation : operations_) {
    if (operation == CodecOperation::kAccumulate) break;  // decode and an addition: nothing new
    twin_rounds_.add([this, operation] { run_.call(operation); });
    twin_rounds_.add([this, operation] {
      operation == CodecOperation::kEncode ? twin_->encode() : twin_->decode();
    });
  }
}

std::vector<CodecPoint> Measurement::points() const {
  std::vector<CodecPoint> points;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    CodecPoint point{case_.label, operations_[i], 4 * elements(), threads(), rounds_.seconds(i)};
    point.traffic = traffic_of(case_, operations_[i], run_.payload_bytes_per_element(), density_);
    if (roof_) point.roof_share = roof_->seconds(point.traffic, elements()) / point.call_s;
    if (chain_)
      point.cycles = point.call_s / rounds_.seconds(*chain_) * static_cast<double>(kChainCycles) /
                     static_cast<double>(elements());
    if (2 * i < twin_rounds_.size())
      point.torch_ratio = twin_rounds_.seconds(2 * i + 1) / twin_rounds_.seconds(2 * i);
    points.push_back(std::move(point));
  }
  return points;
}

void CodecBench::measure(const CodecCase& codec_case, Tensors& tensors, ThreadTeam* team) {
  const std::size_t bytes = 4 * tensors.elements();
  Measurement measurement(codec_case, tensors, team);
  if (bytes >= kRoofFrom) measurement.add_roof();
  if (team == nullptr && bytes >= kCyclesFrom && bytes <= kCyclesTo) measurement.add_clock();
  if (settings_.twins && bytes >= kTwinsFrom && bytes <= kTwinsTo) measurement.add_twin();
  measurement.run(settings_.repetitions, bytes <= kCyclesTo ? kSmallLasting : 0);
  samples_ += measurement.rounds().samples();
  interrupted_ += measurement.rounds().interrupted();
  double sum = 0;
  for (CodecPoint& point : measurement.points()) {
    sum += point.call_s * (1 + point.torch_ratio.value_or(0));
    result_.points.push_back(std::move(point));
  }
  element_seconds_[codec_case.label] = sum / static_cast<double>(tensors.elements());
  if (const auto roof = measurement.roof()) result_.roofs.push_back(*roof);
}

}  // namespace

CodecBenchResult bench_codecs(const CodecBenchSettings& settings,
                              const std::function<void(const CodecBenchProgress&)>& progress) {
  return CodecBench(settings, progress).run();
}

}  // namespace gradwire::bench
