#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/application.h"
#include "cli/context.h"

namespace {

/// Errors go to stderr; with --format json or jsonl also as an object on stdout, so that scripts
/// never parse prose.
int report(const gradwire::cli::Context& context, const std::string& message, int code) {
  using gradwire::cli::Format;
  const Format format = context.format();
  if (format == Format::kJson || format == Format::kJsonl) {
    const nlohmann::ordered_json json = {
        {"schema_version", 1}, {"type", "error"}, {"exit_code", code}, {"message", message}};
    std::printf("%s\n", json.dump().c_str());
  }
  std::fprintf(stderr, "gradwire: %s\n", message.c_str());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  gradwire::cli::Context context;
  CLI::App app;
  gradwire::cli::build_application(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const gradwire::Error& error) {
    return report(context, error.what(), gradwire::exit_code(error.kind()));
  } catch (const std::exception& error) {
    return report(context, error.what(), 1);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    return report(context, "cannot write to standard output: is the disk full or the reader gone?",
                  1);
  return context.exit_code;
}
