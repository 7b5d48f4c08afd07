#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/plain_text.h"
#include "cli/application.h"
#include "cli/context.h"
#include "cli/help/usage.h"
#include "cli/output/json_text.h"

namespace {

using gradwire::cli::Context;
using gradwire::cli::Format;

/// Errors go to stderr; with --format json or jsonl also as an object on stdout, so that scripts
/// never parse prose.
int report(const Context& context, const std::string& message, int code,
           const std::string& suggestion = {}) {
  const Format format = context.format();
  if (format == Format::kJson || format == Format::kJsonl) {
    nlohmann::ordered_json json = {
        {"schema_version", 1}, {"type", "error"}, {"exit_code", code}, {"message", message}};
    if (!suggestion.empty()) json["suggestion"] = suggestion;
    std::printf("%s\n", gradwire::cli::json_text(json).c_str());
  }
  std::fprintf(stderr, "%s %s\n", context.error_prefix().c_str(),
               gradwire::printable(message).c_str());
  return code;
}

/// Help and the version end the parser as errors do.
int end_parsing(const CLI::App& app, const CLI::ParseError& error, Context& context, int argc,
                char** argv) {
  if (error.get_exit_code() == 0) return app.exit(error);
  context.format_name = gradwire::cli::format_of(argc, argv);
  const auto problem = gradwire::cli::usage_problem(app, error);
  return report(context, problem.message, exit_code(gradwire::ErrorKind::kUsage),
                problem.suggestion);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  Context context;
  CLI::App app;
  gradwire::cli::build_application(app, context);
  try {
    gradwire::cli::refuse_empty_assignments(argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return end_parsing(app, error, context, argc, argv);
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
