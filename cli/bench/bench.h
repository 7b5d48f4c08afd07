#pragma once
#include <vector>

#include "bench/rows/row.h"
#include "cli/context.h"

namespace gradwire::cli {

/// `bench codecs`, below the command `bench`.
void add_bench_codecs(CLI::App& parent, Context& context);
/// The same as `codec bench`, codecs named without an option.
void add_codec_bench(CLI::App& codec, Context& context);

/// Judges the rows and prints them; where a bar does not hold the exit code becomes that of a gate.
/// `only_bars`: leaves out rows without a bar from what people read.
void print_bench_rows(std::vector<bench::BenchRow> rows, bool only_bars, Context& context);

}  // namespace gradwire::cli
