#include "emulator/exchange/tcp_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace gradwire::emulator {
namespace {

sockaddr_in endpoint(const std::string& address, int port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(static_cast<std::uint16_t>(port));
  result.sin_addr.s_addr = INADDR_ANY;
  if (!address.empty()) ::inet_pton(AF_INET, address.c_str(), &result.sin_addr);
  return result;
}

void set_number(const FileDescriptor& socket, int level, int option, int value) {
  ::setsockopt(socket.get(), level, option, &value, sizeof value);
}

/// Buffers before connecting: the window scale is agreed upon then. The kernel cuts them to its
/// net.core limits.
void apply(const FileDescriptor& socket, const SocketSettings& settings) {
  set_number(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  if (settings.buffer > 0) {
    set_number(socket, SOL_SOCKET, SO_SNDBUF, settings.buffer);
    set_number(socket, SOL_SOCKET, SO_RCVBUF, settings.buffer);
  }
  const std::string& name = settings.congestion_control;
  if (name.empty()) return;
  if (::setsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(),
                   static_cast<socklen_t>(name.size())) != 0) {
    const int reason = errno;
    throw Error(
        ErrorKind::kCapability, "use", "congestion control " + name,
        reason == ENOENT ? "this kernel does not have it" : std::string(std::strerror(reason)),
        "see /proc/sys/net/ipv4/tcp_available_congestion_control");
  }
}

FileDescriptor tcp_socket() {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) throw system_error("create", "a TCP socket", errno);
  return socket;
}

}  // namespace

void make_non_blocking(const FileDescriptor& file) {
  ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) | O_NONBLOCK);
}

FileDescriptor listen_on(const SocketSettings& settings) {
  FileDescriptor socket = tcp_socket();
  set_number(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  apply(socket, settings);
  const sockaddr_in own = endpoint({}, settings.port);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0 ||
      ::listen(socket.get(), 4096) != 0)
    throw system_error("listen on", "port " + std::to_string(settings.port), errno);
  make_non_blocking(socket);
  return socket;
}

int port_of(const FileDescriptor& socket) {
  sockaddr_in own{};
  socklen_t length = sizeof own;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &length) != 0)
    throw system_error("read", "a socket's port", errno);
  return ntohs(own.sin_port);
}

FileDescriptor connect_to_address(const std::string& address, const SocketSettings& settings) {
  FileDescriptor socket = tcp_socket();
  apply(socket, settings);
  set_number(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
  const sockaddr_in peer = endpoint(address, settings.port);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&peer), sizeof peer) != 0)
    throw system_error("connect to", "worker at " + address, errno);
  set_number(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 0);
  make_non_blocking(socket);
  return socket;
}

FileDescriptor accept_from(const FileDescriptor& listener, const SocketSettings& settings) {
  FileDescriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.valid()) apply(socket, settings);
  return socket;
}

std::string congestion_control_of(const FileDescriptor& socket) {
  char name[16] = {};
  socklen_t length = sizeof name - 1;
  ::getsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, name, &length);
  return name;
}

void set_low_water(const FileDescriptor& socket, int bytes) {
  set_number(socket, SOL_SOCKET, SO_RCVLOWAT, bytes);
}

TcpCounters counters_of(const FileDescriptor& socket) {
  tcp_info info{};
  socklen_t length = sizeof info;
  ::getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &info, &length);
  return {static_cast<std::int64_t>(info.tcpi_bytes_sent), info.tcpi_data_segs_out,
          info.tcpi_total_retrans, Seconds(info.tcpi_rtt * 1e-6)};
}

}  // namespace gradwire::emulator
