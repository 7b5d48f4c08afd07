#pragma once
#include <functional>
#include <string>
#include <vector>

#include "bench/advice/advice.h"
#include "bench/calibration/calibration.h"
#include "bench/cliffs/cliffs.h"
#include "bench/codecs/codecs.h"
#include "bench/emulation/emulation.h"
#include "bench/fidelity/fidelity.h"
#include "bench/measured/measured.h"
#include "bench/methods.h"
#include "bench/prediction/prediction.h"
#include "bench/rows/row.h"

/// All benchmarks behind one interface: `gradwire` loads them at run time from a module of their
/// own, which is built at its first use, so that what only runs scenarios need not compile them.
namespace gradwire::bench {

class Benchmarks {
 public:
  virtual ~Benchmarks() = default;

  virtual CodecBenchResult codecs(
      const CodecBenchSettings& settings,
      const std::function<void(const CodecBenchProgress&)>& progress) const = 0;
  virtual std::vector<BenchRow> rows_of(const CodecBenchResult& result) const = 0;
  virtual std::vector<std::vector<std::string>> summary_lines(
      const CodecBenchResult& result) const = 0;
  virtual std::vector<std::string> notes_on(const CodecBenchResult& result) const = 0;

  virtual std::vector<BenchRow> training(std::uint64_t seed, const Say& say) const = 0;
  virtual std::vector<BenchRow> methods(const MethodsOptions& options, const Say& say) const = 0;
  virtual std::vector<BenchRow> flow(const Say& say) const = 0;
  virtual std::vector<BenchRow> packet(const Say& say) const = 0;
  virtual std::vector<BenchRow> report(const Say& say) const = 0;
  virtual std::vector<BenchRow> gui(const Say& say) const = 0;
  /// Against the reference that the options name.
  virtual std::vector<BenchRow> fidelity(const FidelityOptions& options, const Say& say) const = 0;
  /// Regimes of either reference.
  virtual std::vector<std::string> fidelity_regimes() const = 0;
  virtual CliffsResult cliffs(const CliffsOptions& options, const Say& say) const = 0;
  virtual std::vector<BenchRow> prediction(const PredictionOptions& options,
                                           const Say& say) const = 0;
  virtual std::vector<BenchRow> predict(std::uint64_t seed, const Say& say) const = 0;
  virtual std::vector<BenchRow> measured(const MeasuredOptions& options, const Say& say) const = 0;
  virtual std::vector<BenchRow> advice(const AdviceOptions& options, const Say& say) const = 0;

  virtual std::vector<BenchRow> emulation(const EmulationOptions& options,
                                          const Say& say) const = 0;

  virtual CalibrationResult calibrate(const CalibrateOptions& options, const Say& say) const = 0;
  virtual std::string markdown_of(const CalibrationResult& result,
                                  const CalibrateOptions& options) const = 0;
};

/// The module's symbol, of type `const Benchmarks& ()`.
using BenchmarksSymbol = const Benchmarks& (*)();
inline constexpr const char* kBenchmarksSymbol = "gradwire_benchmarks";

}  // namespace gradwire::bench
