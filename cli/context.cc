#include "cli/context.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace gradwire::cli {

Format Context::format() const {
  if (format_name == "json") return Format::kJson;
  if (format_name == "jsonl") return Format::kJsonl;
  if (format_name == "csv") return Format::kCsv;
  return Format::kText;
}

bool Context::use_color(int fd) const {
  if (color != "auto") return color == "always";
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value && *value;
  };
  if (set("NO_COLOR")) return false;
  if (set("CLICOLOR_FORCE") && std::string_view(std::getenv("CLICOLOR_FORCE")) != "0") return true;
  if (set("CLICOLOR") && std::string_view(std::getenv("CLICOLOR")) == "0") return false;
  return ::isatty(fd) == 1;
}

bool Context::use_progress_bar() const {
  if (quiet || format() == Format::kJsonl) return false;
  return progress == "always" || (progress == "auto" && ::isatty(STDERR_FILENO) == 1);
}

std::unique_ptr<results::Store> Context::open_reader() const {
  return results::Store::open(database, results::Store::Mode::kReadOnly);
}

std::unique_ptr<results::Store> Context::open_writer() const {
  return results::Store::open(database, results::Store::Mode::kReadWrite);
}

void Context::say(const std::string& message) const {
  if (!quiet) std::fprintf(stderr, "%s\n", message.c_str());
}

}  // namespace gradwire::cli
