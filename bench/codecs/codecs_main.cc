#include <unistd.h>

#include <cstdio>

#include "bench/codecs/codecs_command.h"

/// `gradwire bench codecs` as a program of its own, which needs base/ and compressors/ only.
namespace {

using namespace gradwire;

void show_progress(const bench::CodecBenchProgress& progress) {
  if (::isatty(STDERR_FILENO) != 1) return;
  std::fprintf(stderr, "\r\033[K[%zu/%zu] %s", progress.done, progress.all, progress.doing.c_str());
  std::fflush(stderr);
}

int measure(const bench::CodecArguments& arguments, const std::string& format) {
  const bench::CodecBenchResult result = bench::bench_codecs(arguments.settings(), show_progress);
  if (::isatty(STDERR_FILENO) == 1) std::fputs("\r\033[K", stderr);
  for (const std::string& note : bench::notes_on(result))
    std::fprintf(stderr, "%s\n", note.c_str());
  for (const std::string& note : result.failures)
    std::fprintf(stderr, "failed: %s\n", note.c_str());
  std::vector<bench::BenchRow> rows = bench::rows_of(result);
  const bool hold = bench::judge(rows);
  if (format == "json") {
    std::fputs(bench::rows_as_json(rows).c_str(), stdout);
  } else {
    std::printf("Instruction set %s, %.2f GHz\n\n%s\n", result.instructions.c_str(),
                result.clock_ghz, bench::summary_of(result).c_str());
    std::erase_if(rows, [](const bench::BenchRow& row) {
      return !row.bar && !row.name.starts_with("codecs.roof");
    });
    std::fputs(bench::rows_as_markdown(rows).c_str(), stdout);
  }
  if (!result.failures.empty()) return exit_code(ErrorKind::kFailure);
  return hold ? 0 : exit_code(ErrorKind::kGate);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Speed of Gradwire's codecs beside the memory's");
  std::string format = "markdown";
  app.add_option("--format", format, "markdown or json")
      ->check(CLI::IsMember({"markdown", "json"}));
  const auto arguments = gradwire::bench::add_codec_arguments(app);
  CLI11_PARSE(app, argc, argv);
  try {
    return measure(*arguments, format);
  } catch (const gradwire::Error& error) {
    std::fprintf(stderr, "gradwire-bench-codecs: %s\n", error.what());
    return exit_code(error.kind());
  }
}
