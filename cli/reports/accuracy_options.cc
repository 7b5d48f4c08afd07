#include "cli/reports/accuracy_options.h"

#include "base/file_descriptor.h"
#include "scenarios/share.h"

namespace gradwire::cli {

CLI::Option* add_tolerance_option(CLI::App& command, AccuracyArguments& arguments) {
  return command
      .add_option("--tolerance", arguments.tolerance_points,
                  "Points of accuracy that a recommended method may lose")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
}

results::AccuracyKnowledge accuracy_knowledge(const AccuracyArguments& arguments) {
  const std::string path = scenarios::share_folder() + "/published/accuracy.csv";
  return {{},
          results::read_published_accuracy(read_file(path), path),
          arguments.tolerance_points / 100};
}

}  // namespace gradwire::cli
