#pragma once
#include "emulator/hosts/host_runner.h"

/// What a HostRunner keeps of one submitted graph. Included by its sources alone.
namespace gradwire::emulator {

struct HostRunner::Run {
  struct CrossSuccessor {
    GraphId graph = 0;
    std::uint32_t gate = 0;
  };

  GraphId id = 0;
  std::shared_ptr<const HostView> view;
  std::vector<Bytes> bytes;
  std::vector<Seconds> seconds;
  std::shared_ptr<const PayloadIndex> payloads;
  std::vector<std::uint32_t> pending;  ///< [gates]; kept right for the gates of this host
  std::vector<bool> source_done;       ///< [sources], as far as known here
  std::multimap<std::uint32_t, CrossSuccessor> cross;  ///< by source: gates of this host
  std::multimap<std::uint32_t, std::int32_t>
      listeners;                   ///< by source: hosts of later graphs' gates
  std::vector<bool> part_open;     ///< [operations]: this host's part may start
  std::vector<bool> part_started;  ///< [operations]
  std::vector<Seconds> part_ready;
  bool released = false;
  bool cancelled = false;
};

}  // namespace gradwire::emulator
