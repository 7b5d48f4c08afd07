#include "cli/context.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "base/plain_text.h"
#include "base/text_width.h"

namespace gradwire::cli {
namespace {

constexpr std::size_t kUsualWidth = 80, kLeastWidth = 40;

/// What the user set, where it is a number.
std::size_t width_of_environment() {
  const char* text = std::getenv("COLUMNS");
  std::size_t width = 0;
  if (text) std::from_chars(text, text + std::string_view(text).size(), width);
  return width;
}

std::size_t width_of_terminal() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) != 1 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace

std::size_t Context::page_width() const {
  if (wide || markdown()) return 0;
  for (const std::size_t width : {width_of_environment(), width_of_terminal()})
    if (width > 0) return std::max(width, kLeastWidth);
  return kUsualWidth;
}

std::string Context::emphasised(const std::string& text, int fd) const {
  if (!use_color(fd) || markdown()) return text;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += "\033[1m" + text.substr(at, end - at) + "\033[0m" + (end < text.size() ? "\n" : "");
    at = end + 1;
  }
  return out;
}

std::string Context::states_folder() const {
  const std::string folder = std::filesystem::path(database).parent_path().string();
  return folder.empty() ? "." : folder;
}

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

std::string Context::error_prefix() const {
  return use_color(STDERR_FILENO) ? "\033[1;31mgradwire:\033[0m" : "gradwire:";
}

bool Context::may_ask() const {
  return !no_input && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

bool Context::agrees(const std::string& question) const {
  std::fprintf(stderr, "%s [y/N] ", question.c_str());
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "yes");
}

void Context::say_wrapped(const std::string& sentences) const {
  for (const std::string& line : wrapped(sentences, page_width())) say(line);
}

void Context::say(const std::string& sentence) const {
  if (quiet) return;
  const std::string message = printable(sentence);
  constexpr std::string_view kWarning = "warning:";
  const bool colored = message.starts_with(kWarning) && use_color(STDERR_FILENO);
  const std::string text =
      colored ? "\033[1;33mwarning:\033[0m" + message.substr(kWarning.size()) : message;
  std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace gradwire::cli
