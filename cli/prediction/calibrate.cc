#include <filesystem>

#include "base/file_descriptor.h"
#include "cli/bench/bench_module.h"
#include "cli/context.h"
#include "cli/output/table.h"
#include "cli/prediction/calibrate_nccl.h"
#include "runner/interrupt.h"

namespace gradwire::cli {
namespace {

struct CalibrateArguments {
  bench::CalibrateOptions options;
  std::string output;
  std::string markdown;
  CalibrateNcclArguments nccl;
};

/// `against` ns-3 the reference is simulated, against the kernel it is real traffic.
void print(const bench::CalibrationResult& result, const std::string& against, Context& context) {
  Table table({{"name"},
               {"regime"},
               {"reference_s"},
               {"error_before"},
               {"error"},
               {.name = "provenance", .importance = Importance::kLow}});
  const std::string provenance = against == "packet" ? "simulated" : "emulated";
  for (const bench::PointError& e : result.errors)
    table.add({e.name, e.regime, e.reference, e.before, e.after, provenance});
  table.print(context);
}

std::string how_to_go_on(const bench::CalibrateOptions& options) {
  if (options.measurements.empty())
    return "Nothing is kept: give --output, and --resume goes on from there.";
  return "What is measured is in " + options.measurements +
         "; the same command with --resume goes on.";
}

std::string how_to_use(const std::string& output) {
  return "Wrote " + output +
         ". Scenarios use it by \"network\": {\"transport\": {\"calibration\": \"" +
         (output.find('/') == std::string::npos ? "./" : "") + output +
         "\"}}, a path seen from the scenario's folder, or\n  gradwire run SCENARIO --set "
         "/network/transport/calibration=" +
         std::filesystem::absolute(output).lexically_normal().string() +
         "\nand gradwire bench fidelity --calibration " + output + " says how far it is.";
}

void run(const CalibrateArguments& arguments, Context& context) {
  if (!arguments.nccl.logs.empty()) {
    calibrate_nccl(arguments.nccl, arguments.output, context);
    return;
  }
  const runner::InterruptGuard guard;
  bench::CalibrateOptions options = arguments.options;
  options.stopped = [] { return runner::interrupted_by() != 0; };
  if (!arguments.output.empty()) options.measurements = arguments.output + ".measurements.json";
  const bench::CalibrationResult result =
      benchmarks().calibrate(options, [&context](const std::string& text) { context.say(text); });
  if (result.stopped) {
    context.say("Nothing is fitted. " + how_to_go_on(options));
    context.exit_code = exit_code(runner::interruption());
    return;
  }
  if (!arguments.output.empty())
    write_file(arguments.output, sim::calibration_json(result.calibration));
  if (!arguments.markdown.empty())
    write_file(arguments.markdown, benchmarks().markdown_of(result, options));
  print(result, options.reference, context);
  if (!result.complete) context.say("The grid is not complete. " + how_to_go_on(options));
  if (!arguments.output.empty()) context.say(how_to_use(arguments.output));
}

}  // namespace

void add_calibrate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "calibrate", "Measure a grid of transfers, and fit the flow executor's constants to it");
  auto arguments = std::make_shared<CalibrateArguments>();
  bench::CalibrateOptions& options = arguments->options;
  command->add_option("--against", options.reference, "ns-3, or this kernel's TCP in namespaces")
      ->check(CLI::IsMember({"packet", "linux"}))
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Seed of the grid")->capture_default_str();
  command->add_option("--points", options.points, "Points of the grid")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command->add_option("--time-limit", options.time_limit_s, "Seconds of the reference")
      ->capture_default_str();
  command->add_option("--point-limit", options.point_limit_s, "Seconds of the reference, a point")
      ->capture_default_str();
  command->add_option("-o,--output", arguments->output,
                      "The calibration (JSON); measurements are kept beside it");
  command->add_option("--markdown", arguments->markdown, "A section for docs/validation");
  command->add_flag("--resume", options.resume, "Take the measurements kept beside the output");
  CLI::Option* from =
      command
          ->add_option("--from", arguments->nccl.logs,
                       "Fit NCCL's constants to what nccl-tests printed (or -J wrote)")
          ->type_name("FILE")
          ->check(CLI::ExistingFile);
  CLI::Option* gpu = command->add_option("--gpu", arguments->nccl.gpu, "Whose: v100, h100, ...");
  gpu->needs(from);
  from->needs(gpu);
  command
      ->add_option("--between", arguments->nccl.between,
                   "What a node's adapters carry together, for logs of several nodes")
      ->needs(from);
  for (const char* grid : {"--against", "--seed", "--points", "--time-limit", "--point-limit",
                           "--markdown", "--resume"})
    from->excludes(command->get_option(grid));
  command->footer(
      "Ctrl-C keeps what is measured; --resume goes on from there.\n\n"
      "Example:\n  gradwire calibrate --against linux --time-limit 1800 -o linux.json\n"
      "  gradwire calibrate --from nccl-tests.json --gpu h100 -o library.json");
  command->callback([arguments, &context] { run(*arguments, context); });
}

}  // namespace gradwire::cli
