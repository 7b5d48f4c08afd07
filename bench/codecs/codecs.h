#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/codecs/codec_bars.h"
#include "bench/codecs/codec_cases.h"
#include "bench/codecs/coders.h"
#include "bench/codecs/roof.h"
#include "bench/rows/row.h"

/// `gradwire bench codecs`: how fast each codec is beside what the memory can do, beside the same
/// codec written with LibTorch operations, and a call.
namespace gradwire::bench {

struct CodecBenchSettings {
  std::vector<std::size_t> sizes = {4, 4 << 10, 64 << 10, 1 << 20, 64 << 20, 256 << 20};  ///< bytes
  std::vector<std::string> codecs = {};  ///< names or labels; empty = all
  std::vector<int> threads = {1, 2};
  int repetitions = 9;
  double seconds = 300;  ///< what would take longer leaves out the slowest measurements
  bool twins = true;     ///< measure LibTorch's operations too, where their module is there
  bool coders = true;    ///< measure the entropy coders too
  bool pin = true;       ///< keep single-threaded measurements on one processor
  std::uint64_t seed = 1;
};

/// One operation on a tensor of one size.
struct CodecPoint {
  std::string label;
  CodecOperation operation = CodecOperation::kEncode;
  std::size_t bytes = 0;  ///< of the fp32 tensor
  int threads = 1;
  double call_s = 0;  ///< median
  Traffic traffic = {};
  std::optional<double> roof_share = {};   ///< of 64 MiB and more: smaller tensors live in caches
  std::optional<double> cycles = {};       ///< an element, of 16 KiB to 1 MiB on one thread
  std::optional<double> torch_ratio = {};  ///< LibTorch operations' time / ours, 1 to 64 MiB

  double gb_per_s() const { return 1e-9 * static_cast<double>(bytes) / call_s; }
};

struct RoofPoint {
  std::size_t bytes = 0;
  int threads = 1;
  Roof::Speeds speeds = {};
};

struct CodecBenchResult {
  std::string instructions = {};
  double clock_ghz = 0;
  std::vector<CodecPoint> points = {};
  std::vector<RoofPoint> roofs = {};
  std::vector<CoderPoint> coders = {};
  /// Share of the samples during which others used this processor. Beyond a quarter or so, figures
  /// say more about them.
  double interrupted = 0;
  std::vector<std::string> left_out = {};  ///< what and why
  std::vector<std::string> failures = {};
};

struct CodecBenchProgress {
  std::size_t done = 0, all = 0;
  double remaining_s = 0;
  std::string doing = {};
};

/// Throws Error(kUsage) for unknown codecs.
CodecBenchResult bench_codecs(const CodecBenchSettings& settings,
                              const std::function<void(const CodecBenchProgress&)>& progress);

/// In the one form of all benchmarks, judged.
std::vector<BenchRow> rows_of(const CodecBenchResult& result);

/// For people: titles, then one line an operation, size and thread count.
std::vector<std::vector<std::string>> summary_lines(const CodecBenchResult& result);
/// The same in Markdown.
std::string summary_of(const CodecBenchResult& result);

/// What the reader of the figures must know: what was left out, and whether the machine was busy.
std::vector<std::string> notes_on(const CodecBenchResult& result);

/// "4KiB", "64MiB"; "4B" for one element.
std::string size_text(std::size_t bytes);

}  // namespace gradwire::bench
