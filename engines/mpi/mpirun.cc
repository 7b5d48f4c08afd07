#include "engines/mpi/mpirun.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/child_process.h"
#include "base/error.h"
#include "base/plain_text.h"

namespace gradwire::engines {
namespace {

constexpr std::size_t kMostWords = 12;  ///< lines that are kept of standard error
constexpr int kPoll_ms = 100;

/// Names of variables that say something to Gradwire: ranks on other machines do not inherit them.
std::vector<std::string> own_variables() {
  std::vector<std::string> names;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("GRADWIRE_")) names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

std::vector<std::string> command(int processes, const std::string& program,
                                 const std::string& argument) {
  std::vector<std::string> argv = {"mpirun"};
  std::ranges::move(mpirun_arguments(processes), std::back_inserter(argv));
  argv.push_back(program);
  argv.push_back(argument);
  return argv;
}

/// Takes what can be read now; false at the end.
bool read_into(const FileDescriptor& pipe, std::string& text) {
  std::byte block[65536];
  const std::size_t got = pipe.read_some(block, "mpirun's output");
  text.append(reinterpret_cast<const char*>(block), got);
  return got > 0;
}

}  // namespace

std::vector<std::string> mpirun_arguments(int processes) {
  std::vector<std::string> arguments = {"--oversubscribe", "--bind-to", "none"};
  // Containers forbid what it would copy memory between processes with, and it warns of that.
  arguments.insert(arguments.end(), {"--mca", "btl_vader_single_copy_mechanism", "none"});
  // Without a shell for other machines mpirun gives up even where it needs none.
  if (find_in_path("ssh").empty() && find_in_path("rsh").empty() && find_in_path("srun").empty())
    arguments.insert(arguments.end(), {"--mca", "plm", "isolated"});
  if (::geteuid() == 0) arguments.push_back("--allow-run-as-root");
  for (const std::string& name : own_variables()) arguments.insert(arguments.end(), {"-x", name});
  if (processes > 0) arguments.insert(arguments.end(), {"-n", std::to_string(processes)});
  return arguments;
}

Mpirun::Mpirun(int processes, const std::string& program, const std::string& argument)
    : child_(command(processes, program, argument),
             {.pipe_stdin = true, .pipe_stdout = true, .pipe_stderr = true, .own_group = true}) {}

void Mpirun::say(const std::string& line) {
  const std::string text = line + "\n";
  try {
    child_.stdin_pipe().write_all(std::as_bytes(std::span(text)), "mpirun");
  } catch (const Error&) {
    // It has ended meanwhile, which its exit code tells.
  }
}

int Mpirun::follow(const std::function<void(const std::string&)>& on_line,
                   const std::function<void()>& before_wait) {
  bool output = true, errors = true;
  while (output || errors) {
    before_wait();
    pollfd both[] = {{output ? child_.stdout_pipe().get() : -1, POLLIN, 0},
                     {errors ? child_.stderr_pipe().get() : -1, POLLIN, 0}};
    if (::poll(both, 2, kPoll_ms) <= 0) continue;
    if (both[0].revents != 0) {
      output = read_into(child_.stdout_pipe(), output_);
      for (const std::string& line : take_lines(output_)) on_line(line);
    }
    if (both[1].revents != 0) {
      errors = read_into(child_.stderr_pipe(), errors_);
      read_errors();
    }
  }
  return child_.wait();
}

void Mpirun::read_errors() {
  for (std::string& line : take_lines(errors_)) {
    const bool drawn = line.find_first_not_of("- ") == std::string::npos;
    if (!drawn) words_.push_back(std::move(line));
    if (words_.size() > kMostWords) words_.pop_front();
  }
}

std::string Mpirun::last_words() const {
  std::string text;
  for (const std::string& line : words_) text += (text.empty() ? "" : " ") + line;
  return text;
}

}  // namespace gradwire::engines
