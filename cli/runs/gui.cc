#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/program_part.h"
#include "cli/context.h"

namespace gradwire::cli {
namespace {

constexpr const char* kLink = "run:";
constexpr const char* kScenario = ".json";

/// `other`: a link or a scenario file, or empty.
[[noreturn]] void start_desktop(const std::string& database, const std::string& other) {
  const std::string program = part_path("gui", "gradwire-gui");
  if (::access(program.c_str(), X_OK) != 0)
    throw Error(
        ErrorKind::kCapability, "start the desktop program", program, "it is not there",
        is_installed() ? part_advice("gui") : "install qt6-base-dev and " + part_advice("gui"));
  ::execl(program.c_str(), program.c_str(), database.c_str(),
          other.empty() ? nullptr : other.c_str(), nullptr);
  throw system_error("start", program, errno);
}

}  // namespace

void add_gui(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("gui", "Open the desktop program on a results database or a scenario");
  auto file = std::make_shared<std::string>(), other = std::make_shared<std::string>();
  command->add_option("DB", *file, "Results database (default: the one --db names)");
  command->add_option("PLACE", *other,
                      "run:42 or run:42@1.20s..1.31s: a run's timeline, at a range of time; or a "
                      "scenario file, to edit and run");
  command->callback([file, other, &context] {
    // Alone it is one for the usual database.
    if (other->empty() && (file->starts_with(kLink) || file->ends_with(kScenario)))
      std::swap(*file, *other);
    start_desktop(file->empty() ? context.database : *file, *other);
  });
}

}  // namespace gradwire::cli
