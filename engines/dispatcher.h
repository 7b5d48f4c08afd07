#pragma once
#include <deque>
#include <string>
#include <vector>

namespace gradwire::engines {

/// Which runs go to the rank that asks next: in the sweep's order, as many as take some time
/// together by what runs have taken so far, so that messages do not cost more than short runs;
/// fewer where the ranks would not end together.
class Dispatcher {
 public:
  /// `lines`: of a work list. `seconds`: what a batch shall take.
  Dispatcher(std::vector<std::string> lines, int ranks, double seconds = 0.5);

  /// Runs for an idle rank; empty = there are none left.
  std::vector<std::string> next();
  /// What a batch took.
  void note(std::size_t runs, double seconds);
  /// Gives nothing out from now on.
  void stop() { lines_.clear(); }
  bool empty() const { return lines_.empty(); }

 private:
  std::size_t batch() const;

  std::deque<std::string> lines_;
  std::size_t ranks_;
  double batch_s_;
  double seconds_ = 0;    ///< of the runs that were noted
  std::size_t runs_ = 0;  ///< that were noted
};

}  // namespace gradwire::engines
