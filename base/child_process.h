#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"

namespace gradwire {

/// Owns one child process. Move-only; destruction kills (SIGKILL) and reaps a child still running,
/// so an exception never leaves one behind. The child dies with its parent (PR_SET_PDEATHSIG).
class ChildProcess {
 public:
  struct Options {
    bool pipe_stdin = false;
    bool pipe_stdout = false;
    bool pipe_stderr = false;
    /// A process group of its own: signals of the terminal do not reach it.
    bool own_group = false;
    /// Descriptors of this process that the child has, too, by the same numbers.
    std::vector<int> inherited = {};
  };
  /// Starts argv[0] (searched in PATH if it has no slash). Throws Error when it cannot be executed.
  ChildProcess(const std::vector<std::string>& argv, const Options& options);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  FileDescriptor& stdin_pipe() { return stdin_; }
  FileDescriptor& stdout_pipe() { return stdout_; }
  FileDescriptor& stderr_pipe() { return stderr_; }

  void signal(int number) const;
  /// Exit code, or 128 + signal number.
  int wait();
  std::optional<int> poll();
  void kill_and_reap() noexcept;

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
  FileDescriptor stdin_, stdout_, stderr_;
};

/// The first file of that name that may be executed, in PATH's folders and then in `more` (as in
/// PATH); empty: there is none.
std::string find_in_path(std::string_view name, std::string_view more = {});

/// The running program's own path and its folder, to find sibling programs and modules.
std::string executable_path();
std::string executable_folder();

}  // namespace gradwire
