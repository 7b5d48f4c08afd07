#include "cli/bench.h"

#include "base/error.h"
#include "cli/table.h"

namespace gradwire::cli {
namespace {

struct Benchmark {
  const char* name;
  const char* summary;
  std::vector<BenchRow> (*run)(std::uint64_t seed, const Context& context);
};

const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> all = {
      {"training", "A training loop under simulation against the bare LibTorch loop",
       bench_training},
      {"flow", "Transfers a second of the flow executor on ring all-reduces", bench_flow}};
  return all;
}

void run_benchmark(const std::string& name, std::uint64_t seed, Context& context) {
  for (const Benchmark& benchmark : benchmarks()) {
    if (name != benchmark.name) continue;
    Table table({{"name"}, {"value"}, {"unit"}, {"bar"}, {"holds"}});
    for (const BenchRow& row : benchmark.run(seed, context)) {
      const bool holds = !row.bar || (row.at_most ? row.value <= *row.bar : row.value >= *row.bar);
      if (!holds) context.exit_code = exit_code(ErrorKind::kGate);
      table.add({row.name, row.value, row.unit, row.bar ? Cell(*row.bar) : Cell(),
                 row.bar ? Cell(holds) : Cell()});
    }
    return table.print(context);
  }
  throw Error(ErrorKind::kUsage, "run the benchmark", name, "there is none of that name",
              "see gradwire bench --help");
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "bench", "Benchmarks: ratios within one run; exits with 7 when a bar does not hold");
  struct Arguments {
    std::string name;
    std::uint64_t seed = 1;
  };
  auto arguments = std::make_shared<Arguments>();
  std::string names;
  for (const Benchmark& benchmark : benchmarks())
    names += "\n  " + std::string(benchmark.name) + "  " + benchmark.summary;
  command->add_option("NAME", arguments->name, "Which benchmark")->required();
  command->add_option("--seed", arguments->seed, "Seed")->capture_default_str();
  command->footer("Benchmarks:" + names);
  command->callback(
      [arguments, &context] { run_benchmark(arguments->name, arguments->seed, context); });
}

}  // namespace gradwire::cli
