#include <algorithm>

#include "bench/benchmarks.h"
#include "bench/fidelity/linux_fidelity.h"
#include "bench/flow/flow.h"
#include "bench/gui/gui.h"
#include "bench/methods.h"
#include "bench/packet/packet.h"
#include "bench/prediction/speed.h"
#include "bench/report/report.h"
#include "bench/training.h"

namespace gradwire::bench {
namespace {

class AllBenchmarks final : public Benchmarks {
 public:
  CodecBenchResult codecs(
      const CodecBenchSettings& settings,
      const std::function<void(const CodecBenchProgress&)>& progress) const override {
    return bench_codecs(settings, progress);
  }
  std::vector<BenchRow> rows_of(const CodecBenchResult& result) const override {
    return bench::rows_of(result);
  }
  std::vector<std::vector<std::string>> summary_lines(
      const CodecBenchResult& result) const override {
    return bench::summary_lines(result);
  }
  std::vector<std::string> notes_on(const CodecBenchResult& result) const override {
    return bench::notes_on(result);
  }

  std::vector<BenchRow> training(std::uint64_t seed, const Say& say) const override {
    return bench_training(seed, say);
  }
  std::vector<BenchRow> methods(const MethodsOptions& options, const Say& say) const override {
    return bench_methods(options, say);
  }
  std::vector<BenchRow> flow(const Say& say) const override { return bench_flow(say); }
  std::vector<BenchRow> packet(const Say& say) const override { return bench_packet(say); }
  std::vector<BenchRow> report(const Say& say) const override { return bench_report(say); }
  std::vector<BenchRow> gui(const Say& say) const override { return bench_gui(say); }
  std::vector<BenchRow> fidelity(const FidelityOptions& options, const Say& say) const override {
    return options.reference == "linux" ? bench_linux_fidelity(options, say)
                                        : bench_fidelity(options, say);
  }
  std::vector<std::string> fidelity_regimes() const override {
    std::vector<std::string> names = bench::fidelity_regimes();
    for (const std::string& name : linux_fidelity_regimes())
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    return names;
  }
  CliffsResult cliffs(const CliffsOptions& options, const Say& say) const override {
    return bench_cliffs(options, say);
  }
  std::vector<BenchRow> prediction(const PredictionOptions& options,
                                   const Say& say) const override {
    return bench_prediction(options, say);
  }
  std::vector<BenchRow> predict(std::uint64_t seed, const Say& say) const override {
    return bench_predict(seed, say);
  }
  std::vector<BenchRow> measured(const MeasuredOptions& options, const Say& say) const override {
    return bench_measured(options, say);
  }
  std::vector<BenchRow> advice(const AdviceOptions& options, const Say& say) const override {
    return bench_advice(options, say);
  }

  std::vector<BenchRow> emulation(const EmulationOptions& options, const Say& say) const override {
    return bench_emulation(options, say);
  }

  CalibrationResult calibrate(const CalibrateOptions& options, const Say& say) const override {
    return bench::calibrate(options, say);
  }
  std::string markdown_of(const CalibrationResult& result,
                          const CalibrateOptions& options) const override {
    return calibration_markdown(result, options);
  }
};

}  // namespace
}  // namespace gradwire::bench

extern "C" __attribute__((visibility("default"))) const gradwire::bench::Benchmarks&
gradwire_benchmarks() {
  static const gradwire::bench::AllBenchmarks benchmarks;
  return benchmarks;
}
