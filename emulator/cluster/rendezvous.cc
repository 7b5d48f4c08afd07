#include "emulator/cluster/rendezvous.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "emulator/clock.h"

namespace gradwire::emulator {
namespace {

/// What a worker says first.
struct Greeting {
  std::uint64_t magic = 0x4757'5244'565A'0001ull;
  std::int32_t rank = 0;
  std::int32_t unused = 0;
};

std::string text_of(const Rendezvous& place) {
  return place.host + ":" + std::to_string(place.port);
}

FileDescriptor stream_socket() {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) throw system_error("create", "a TCP socket", errno);
  return socket;
}

void set_number(const FileDescriptor& socket, int level, int option, int value) {
  ::setsockopt(socket.get(), level, option, &value, sizeof value);
}

/// Who does not answer any more is noticed within the limit.
void watch(const FileDescriptor& socket) {
  set_number(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_number(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_number(socket, IPPROTO_TCP, TCP_KEEPIDLE, 3);
  set_number(socket, IPPROTO_TCP, TCP_KEEPINTVL, 2);
  set_number(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_number(socket, IPPROTO_TCP, TCP_USER_TIMEOUT,
             static_cast<int>(1e3 * kRendezvousLimit.value()));
}

sockaddr_in resolved(const Rendezvous& place) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int reason = ::getaddrinfo(place.host.c_str(), nullptr, &hints, &found);
  if (reason != 0)
    throw Error(ErrorKind::kUsage, "find", "the rendezvous " + text_of(place),
                ::gai_strerror(reason), "name an address of rank 0's machine");
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> kept(found, &::freeaddrinfo);
  sockaddr_in address{};
  std::memcpy(&address, found->ai_addr, sizeof address);
  address.sin_port = htons(static_cast<std::uint16_t>(place.port));
  return address;
}

std::string text_of(const sockaddr_in& address) {
  char text[INET_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
  return text;
}

template <class Ask>
std::string end_of(const FileDescriptor& socket, Ask ask) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  ask(socket.get(), reinterpret_cast<sockaddr*>(&address), &length);
  return text_of(address);
}

bool wait_readable(const FileDescriptor& socket, Seconds until) {
  const double rest = std::max(0.0, (until - monotonic_now()).value());
  pollfd polled{socket.get(), POLLIN, 0};
  return ::poll(&polled, 1, static_cast<int>(std::min(1e3 * rest + 1, 1e6))) > 0;
}

/// The rank that whoever has come says; none: it is no worker.
std::optional<int> rank_of(const FileDescriptor& connection, Seconds until) {
  Greeting greeting;
  greeting.magic = 0;
  auto bytes = std::as_writable_bytes(std::span(&greeting, 1));
  while (!bytes.empty()) {
    if (!wait_readable(connection, until)) return std::nullopt;
    const ssize_t got = ::recv(connection.get(), bytes.data(), bytes.size(), 0);
    if (got <= 0) return std::nullopt;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return greeting.magic == Greeting{}.magic ? std::optional(greeting.rank) : std::nullopt;
}

FileDescriptor listen_at(const Rendezvous& place, int ranks) {
  FileDescriptor listener = stream_socket();
  set_number(listener, SOL_SOCKET, SO_REUSEADDR, 1);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(static_cast<std::uint16_t>(place.port));
  // A rendezvous on this machine alone is not open to others.
  any.sin_addr.s_addr = htonl(INADDR_ANY);
  if (const sockaddr_in own = resolved(place); (ntohl(own.sin_addr.s_addr) >> 24) == 127)
    any.sin_addr = own.sin_addr;
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      ::listen(listener.get(), ranks) != 0)
    throw system_error("listen at", text_of(place), errno);
  return listener;
}

std::string missing_of(const std::vector<Arrival>& arrivals) {
  std::string words;
  int missing = 0;
  for (std::size_t rank = 0; rank < arrivals.size(); ++rank)
    if (!arrivals[rank].connection.valid())
      words += (missing++ > 0 ? ", " : "") + std::to_string(rank);
  return (missing > 1 ? "ranks " : "rank ") + words;
}

}  // namespace

Rendezvous parse_rendezvous(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  Rendezvous place{text.substr(0, colon), 0};
  const char* const begin =
      colon == text.npos ? text.data() + text.size() : text.data() + colon + 1;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, place.port);
  if (place.host.empty() || error != std::errc() || stop != end || place.port < 1 ||
      place.port > 65535)
    throw Error(ErrorKind::kUsage, "meet at", text, "it is no host:port",
                "name an address of rank 0's machine that all others reach, and a free port");
  return place;
}

std::vector<Arrival> gather_ranks(const Rendezvous& place, int ranks, Seconds limit) {
  const FileDescriptor listener = listen_at(place, ranks);
  const Seconds until = monotonic_now() + limit;
  std::vector<Arrival> arrivals(static_cast<std::size_t>(ranks));
  for (int left = ranks; left > 0;) {
    if (!wait_readable(listener, until))
      throw Error(ErrorKind::kFailure, "gather",
                  std::to_string(ranks) + " ranks at " + text_of(place),
                  missing_of(arrivals) + " did not come within " + format_duration(limit),
                  "start as many processes as the scenario has hosts, all with this rendezvous");
    FileDescriptor connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection.valid()) continue;
    const auto rank = rank_of(connection, until);
    if (!rank) continue;  // a stranger
    if (*rank < 0 || *rank >= ranks)
      throw Error(ErrorKind::kFailure, "gather", std::to_string(ranks) + " ranks",
                  "rank " + std::to_string(*rank) + " has come, too",
                  "start as many processes as the scenario has hosts");
    Arrival& arrival = arrivals[static_cast<std::size_t>(*rank)];
    if (arrival.connection.valid())
      throw Error(ErrorKind::kFailure, "gather", std::to_string(ranks) + " ranks",
                  "two processes say that they are rank " + std::to_string(*rank));
    watch(connection);
    arrival.address = end_of(connection, ::getpeername);
    arrival.own_address = end_of(connection, ::getsockname);
    arrival.connection = std::move(connection);
    --left;
  }
  return arrivals;
}

FileDescriptor come_to(const Rendezvous& place, int rank) {
  const sockaddr_in address = resolved(place);
  const Seconds until = monotonic_now() + kRendezvousLimit;
  for (;;) {
    FileDescriptor socket = stream_socket();
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      watch(socket);
      Greeting greeting;
      greeting.rank = rank;
      socket.write_all(std::as_bytes(std::span(&greeting, 1)), "the hub");
      return socket;
    }
    const int reason = errno;
    if (monotonic_now() >= until)
      throw Error(ErrorKind::kFailure, "come to",
                  "rank 0 at " + text_of(place) + " as rank " + std::to_string(rank),
                  "nobody let it in within " + format_duration(kRendezvousLimit) + ": " +
                      std::strerror(reason),
                  "start rank 0, and name an address of its machine");
    sleep_until(monotonic_now() + Seconds(0.1));
  }
}

std::vector<std::string> addresses_among(const std::vector<Arrival>& arrivals) {
  const auto is_here = [](const Arrival& arrival) {
    return arrival.address == arrival.own_address || arrival.address.starts_with("127.");
  };
  std::string here = "127.0.0.1";
  for (const Arrival& arrival : arrivals)
    if (!is_here(arrival)) here = arrival.own_address;
  std::vector<std::string> addresses;
  for (const Arrival& arrival : arrivals)
    addresses.push_back(is_here(arrival) ? here : arrival.address);
  return addresses;
}

}  // namespace gradwire::emulator
