#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/units.h"

/// How the hub and workers on machines of their own find each other: the hub listens at an address
/// that all of them reach, and each worker comes to it and says which rank it is. Control frames go
/// over these connections as over pipes.
namespace gradwire::emulator {

/// So long one waits for the other before it names who is missing: within 10 s of their start.
inline constexpr Seconds kRendezvousLimit{8};

/// "host:port"; IPv4 addresses and names. Throws Error(kUsage) for what is none.
struct Rendezvous {
  std::string host;
  int port = 0;
};
Rendezvous parse_rendezvous(const std::string& text);

/// A worker that has come.
struct Arrival {
  FileDescriptor connection;
  std::string address;      ///< the worker's, as seen from here
  std::string own_address;  ///< ours, as the worker reaches it
};

/// By rank. Throws Error(kFailure) naming the ranks that have not come in time, and those that two
/// processes claim.
std::vector<Arrival> gather_ranks(const Rendezvous& place, int ranks,
                                  Seconds limit = kRendezvousLimit);

/// Of rank `rank`: its connection to the hub. Throws Error(kFailure) where nobody listens in time.
FileDescriptor come_to(const Rendezvous& place, int rank);

/// Addresses at which workers reach each other: who came from the hub's own machine is known by the
/// address at which others reach that.
std::vector<std::string> addresses_among(const std::vector<Arrival>& arrivals);

}  // namespace gradwire::emulator
