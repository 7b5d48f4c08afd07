#include <chrono>
#include <cstdio>

#include "base/error.h"
#include "base/units.h"
#include "bench/codecs/codecs_command.h"
#include "cli/bench/bench.h"
#include "cli/bench/bench_module.h"
#include "cli/output/table.h"

namespace gradwire::cli {
namespace {

constexpr const char* kSummary =
    "Codecs beside the memory's roof, beside LibTorch operations, and by the call";

/// Of bench::summary_lines: what was measured, its speed and share of the roof first.
const std::vector<Importance> kSummaryColumns = {
    Importance::kKey, Importance::kKey,   Importance::kKey,  Importance::kHigh,
    Importance::kKey, Importance::kLow,   Importance::kHigh, Importance::kNormal,
    Importance::kLow, Importance::kNormal};

/// A line on a terminal that is written over, else one every 30 seconds.
class ProgressLine {
 public:
  explicit ProgressLine(const Context& context) : context_(context) {}
  ~ProgressLine() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  void show(const bench::CodecBenchProgress& progress) {
    const std::string text = "[" + std::to_string(progress.done) + "/" +
                             std::to_string(progress.all) + "] " + progress.doing + ", " +
                             format_duration(Seconds(progress.remaining_s)) + " left at most";
    const auto now = std::chrono::steady_clock::now();
    const bool line = context_.use_progress_bar();
    if (now - last_ < (line ? std::chrono::milliseconds(100) : std::chrono::seconds(30))) return;
    last_ = now;
    if (!line) return context_.say(text);
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
    shown_ = true;
  }

 private:
  const Context& context_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  bool shown_ = false;
};

void measure_codecs(const bench::CodecArguments& arguments, Context& context) {
  const bench::CodecBenchSettings settings = arguments.settings();
  bench::CodecBenchResult result;
  {
    ProgressLine line(context);
    result = benchmarks().codecs(settings, [&](const auto& progress) { line.show(progress); });
  }
  for (const std::string& note : benchmarks().notes_on(result)) context.say(note);
  if (context.format() == Format::kText) {
    std::printf("Instruction set %s, %.2f GHz, medians of %d rounds or more\n\n",
                result.instructions.c_str(), result.clock_ghz, settings.repetitions);
    table_of_texts(benchmarks().summary_lines(result), kSummaryColumns).print_text(context);
    std::printf("\n");
  }
  print_bench_rows(benchmarks().rows_of(result), true, context);
  for (const std::string& note : result.failures)
    std::fprintf(stderr, "gradwire: failed: %s\n", note.c_str());
  if (!result.failures.empty()) context.exit_code = exit_code(ErrorKind::kFailure);
}

}  // namespace

void add_bench_codecs(CLI::App& parent, Context& context) {
  CLI::App* command = parent.add_subcommand("codecs", kSummary);
  const auto arguments = bench::add_codec_arguments(*command);
  command->callback([arguments, &context] { measure_codecs(*arguments, context); });
}

void add_codec_bench(CLI::App& codec, Context& context) {
  CLI::App* command = codec.add_subcommand("bench", kSummary);
  const auto arguments = bench::add_codec_arguments(*command);
  command->add_option("NAMES", arguments->codecs, "Codecs to measure (default: all)");
  command->footer("Examples:\n  gradwire codec bench terngrad topk --sizes 64MiB --threads 1,2");
  command->callback([arguments, &context] { measure_codecs(*arguments, context); });
}

}  // namespace gradwire::cli
