#pragma once
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/child_process.h"

namespace gradwire::engines {

/// mpirun with one program on every rank, whose first rank reads our lines and writes its own.
class Mpirun {
 public:
  /// `processes`: 0 = as many as there are slots. It has a process group of its own: a terminal's
  /// Ctrl-C is ours to hand on.
  Mpirun(int processes, const std::string& program, const std::string& argument);

  /// Hands each line of the first rank to `on_line` until all ranks have ended: mpirun's exit code.
  /// `before_wait` is called some ten times a second.
  int follow(const std::function<void(const std::string&)>& on_line,
             const std::function<void()>& before_wait);
  /// To the first rank.
  void say(const std::string& line);
  /// The latest lines that mpirun and the ranks wrote to standard error.
  std::string last_words() const;

 private:
  void read_errors();

  ChildProcess child_;
  std::string output_, errors_;  ///< lines that have not ended
  std::deque<std::string> words_;
};

/// The arguments of mpirun that come before the program: running as root, more ranks than
/// processors, a machine by itself, and what the environment says to Gradwire are all provided for.
std::vector<std::string> mpirun_arguments(int processes);

}  // namespace gradwire::engines
