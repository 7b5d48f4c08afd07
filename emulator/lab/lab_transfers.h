#pragma once
#include <vector>

#include "base/file_descriptor.h"
#include "emulator/lab/lab.h"
#include "emulator/lab/lab_hosts.h"

namespace gradwire::emulator {

/// The lab's connections and what is sent over them: one thread writes all senders' bytes and reads
/// all receivers'. A transfer lasts from before its first write to the read of its last byte.
class LabTransfers {
 public:
  /// Opens the connections, one after the other. `plan` outlives it.
  LabTransfers(const LabPlan& plan, const LabHosts& hosts);

  /// All repeats of all chains, or until the plan's limit.
  void run();
  const std::vector<std::vector<LabResult::Transfer>>& transfers() const { return transfers_; }
  std::vector<std::int64_t> retransmissions() const;

 private:
  struct Chain {
    FileDescriptor sender, receiver;
    std::int64_t unwritten = 0;
    std::int64_t unread = 0;
    int repeat = -1;  ///< the one that runs, or ran last
    bool running = false;
    double next_start = 0;  ///< of the next repeat
  };

  void open(const LabChain& chain, int port, const LabHosts& hosts);
  bool is_done(const Chain& chain) const {
    return !chain.running && chain.repeat + 1 == plan_.repeats;
  }
  void start_due(double now);
  void start(std::size_t c, double now);
  void write(Chain& chain) const;
  void read(std::size_t c);
  void end(std::size_t c, double now);
  void wait(double until);

  const LabPlan& plan_;
  std::vector<Chain> chains_;
  std::vector<std::vector<LabResult::Transfer>> transfers_;
};

}  // namespace gradwire::emulator
