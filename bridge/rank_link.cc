#include "bridge/rank_link.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/plain_text.h"

namespace gradwire::bridge {
namespace {

constexpr std::size_t kLongestLine = 16u << 20;

pid_t process_of(int socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    throw system_error("ask who is at", "a rank's connection", errno);
  return credentials.pid;
}

}  // namespace

RankLink::RankLink(FileDescriptor socket)
    : socket_(std::move(socket)), process_(process_of(socket_.get())) {}

void RankLink::close() {
  closed_ = true;
  closed_at = std::chrono::steady_clock::now();
}

std::vector<std::string> RankLink::read_lines() {
  std::array<char, 1 << 16> buffer;
  while (!closed_) {
    const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (count <= 0) {  // a reset is an end, too
      close();
      break;
    }
    partial_.append(buffer.data(), static_cast<std::size_t>(count));
    if (partial_.size() > kLongestLine && partial_.find('\n') == std::string::npos)
      throw Error(ErrorKind::kFailure, "read from", "process " + std::to_string(process_),
                  "its line has no end");
  }
  return take_lines(partial_);
}

FileDescriptor listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw Error(ErrorKind::kFailure, "listen at", path, "the path is too long for a socket",
                "set TMPDIR to a shorter folder");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* where = reinterpret_cast<const sockaddr*>(&address);
  if (!socket.valid() || ::bind(socket.get(), where, sizeof address) != 0 ||
      ::listen(socket.get(), 4096) != 0)
    throw system_error("listen at", path, errno);
  return socket;
}

std::optional<FileDescriptor> accept_at(const FileDescriptor& listener) {
  const int socket = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket >= 0) return FileDescriptor(socket);
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ECONNABORTED)
    return std::nullopt;
  throw system_error("accept", "a rank's connection", errno);
}

}  // namespace gradwire::bridge
