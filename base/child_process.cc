#include "base/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/error.h"

namespace gradwire {
namespace {

int decoded(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

[[noreturn]] void execute(std::vector<char*>& arguments, int report_fd) {
  ::execvp(arguments[0], arguments.data());
  const int reason = errno;
  [[maybe_unused]] const ssize_t ignored = ::write(report_fd, &reason, sizeof reason);
  ::_exit(127);
}

void connect(const FileDescriptor& end, int target) {
  if (end.valid()) ::dup2(end.get(), target);
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& argv, const Options& options) {
  GRADWIRE_ASSERT(!argv.empty());
  Pipe in, out, err;
  Pipe report = make_pipe();
  if (options.pipe_stdin) in = make_pipe();
  if (options.pipe_stdout) out = make_pipe();
  if (options.pipe_stderr) err = make_pipe();
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw system_error("start", argv[0], errno);
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    if (options.own_group) ::setpgid(0, 0);
    for (const int descriptor : options.inherited) ::fcntl(descriptor, F_SETFD, 0);
    connect(in.read_end, 0);
    connect(out.write_end, 1);
    connect(err.write_end, 2);
    execute(arguments, report.write_end.get());
  }
  report.write_end.close();
  int reason = 0;
  if (::read(report.read_end.get(), &reason, sizeof reason) == sizeof reason) {
    wait();
    throw system_error("start", argv[0], reason);
  }
  stdin_ = std::move(in.write_end);
  stdout_ = std::move(out.read_end);
  stderr_ = std::move(err.read_end);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept {
  *this = std::move(other);
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    kill_and_reap();
    pid_ = std::exchange(other.pid_, -1);
    status_ = std::exchange(other.status_, std::nullopt);
    stdin_ = std::move(other.stdin_);
    stdout_ = std::move(other.stdout_);
    stderr_ = std::move(other.stderr_);
  }
  return *this;
}

ChildProcess::~ChildProcess() {
  kill_and_reap();
}

void ChildProcess::signal(int number) const {
  if (pid_ > 0 && !status_) ::kill(pid_, number);
}

int ChildProcess::wait() {
  if (!status_ && pid_ > 0) {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    status_ = decoded(status);
  }
  return status_.value_or(0);
}

std::optional<int> ChildProcess::poll() {
  if (!status_ && pid_ > 0) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) status_ = decoded(status);
  }
  return status_;
}

void ChildProcess::kill_and_reap() noexcept {
  if (pid_ <= 0) return;
  if (!status_) {
    ::kill(pid_, SIGKILL);
    wait();
  }
  pid_ = -1;
}

std::string find_in_path(std::string_view name, std::string_view more) {
  const char* path = std::getenv("PATH");
  for (std::string_view left : {std::string_view(path ? path : ""), more})
    while (!left.empty()) {
      const std::size_t end = std::min(left.find(':'), left.size());
      const std::string file = std::string(left.substr(0, end)).append("/").append(name);
      if (end > 0 && ::access(file.c_str(), X_OK) == 0) return file;
      left.remove_prefix(std::min(end + 1, left.size()));
    }
  return {};
}

std::string executable_path() {
  std::string path(4096, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length < 0) throw system_error("read", "/proc/self/exe", errno);
  path.resize(static_cast<std::size_t>(length));
  return path;
}

std::string executable_folder() {
  const std::string path = executable_path();
  return path.substr(0, path.rfind('/'));
}

}  // namespace gradwire
