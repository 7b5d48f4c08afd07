#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/program_part.h"
#include "cli/context.h"

namespace gradwire::cli {
namespace {

[[noreturn]] void start_desktop(const std::string& database) {
  const std::string program = part_path("gui", "gradwire-gui");
  if (::access(program.c_str(), X_OK) != 0)
    throw Error(ErrorKind::kCapability, "start the desktop program", program, "it is not there",
                is_installed() ? part_advice("gui")
                               : "install qt6-base-dev and " + part_advice("gui"));
  ::execl(program.c_str(), program.c_str(), database.c_str(), nullptr);
  throw system_error("start", program, errno);
}

}  // namespace

void add_gui(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("gui", "Open the desktop program on a results database");
  auto file = std::make_shared<std::string>();
  command->add_option("DB", *file, "Results database (default: the one --db names)");
  command->callback([file, &context] { start_desktop(file->empty() ? context.database : *file); });
}

}  // namespace gradwire::cli
