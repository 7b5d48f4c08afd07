#pragma once
#include <functional>
#include <vector>

#include "base/file_descriptor.h"
#include "emulator/lab/lab.h"
#include "emulator/lab/lab_hosts.h"

namespace gradwire::emulator {

/// The lab's connections and what is sent over them: one thread writes all senders' bytes and reads
/// all receivers'. A transfer lasts from before its first write until the receiving kernel has its
/// last byte.
class LabTransfers {
 public:
  /// Opens the connections, one after the other. `plan` outlives it.
  LabTransfers(const LabPlan& plan, const LabHosts& hosts);

  /// All repeats of all chains, or until the plan's limit. `take_worst`: the links' largest
  /// lateness since it was asked last.
  void run(std::function<double()> take_worst);
  const std::vector<std::vector<LabResult::Transfer>>& transfers() const { return transfers_; }
  std::vector<std::int64_t> retransmissions() const;
  const std::vector<double>& late_in() const { return late_in_; }  ///< lab.h

 private:
  struct Chain {
    FileDescriptor sender, receiver;
    std::int64_t unwritten = 0;
    std::int64_t unread = 0;
    int repeat = -1;     ///< the one that runs, or ran last
    double arrival = 0;  ///< the latest of its segments
    bool running = false;
    double next_start = 0;  ///< of the next repeat
  };

  void open(const LabChain& chain, int port, const LabHosts& hosts);
  bool is_done(const Chain& chain) const {
    return !chain.running && chain.repeat + 1 == plan_.repeats;
  }
  bool any_runs() const;
  void start_due(double now);
  void start(std::size_t c, double now);
  void write(Chain& chain) const;
  void read(std::size_t c);
  void end(std::size_t c, double arrival);
  void wait(double until);

  const LabPlan& plan_;
  std::vector<Chain> chains_;
  std::vector<std::vector<LabResult::Transfer>> transfers_;
  std::function<double()> take_worst_;
  std::vector<double> late_in_;
};

}  // namespace gradwire::emulator
