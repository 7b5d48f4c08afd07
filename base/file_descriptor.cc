#include "base/file_descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/error.h"

namespace gradwire {

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void FileDescriptor::close() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void FileDescriptor::write_all(std::span<const std::byte> bytes, std::string_view subject) const {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw system_error("write to", subject, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

std::size_t FileDescriptor::read_some(std::span<std::byte> bytes, std::string_view subject) const {
  for (;;) {
    const ssize_t got = ::read(fd_, bytes.data(), bytes.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) throw system_error("read from", subject, errno);
  }
}

bool FileDescriptor::read_exact(std::span<std::byte> bytes, std::string_view subject) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::size_t got = read_some(bytes.subspan(done), subject);
    if (got == 0 && done == 0) return false;
    if (got == 0)
      throw Error(ErrorKind::kFailure, "read from", subject, "it ended in the middle of a message");
    done += got;
  }
  return true;
}

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw system_error("create", "a pipe", errno);
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

std::string read_file(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) throw system_error("open", path, errno);
  std::string contents;
  std::byte block[65536];
  while (const std::size_t got = file.read_some(block, path))
    contents.append(reinterpret_cast<const char*>(block), got);
  return contents;
}

void write_file(const std::string& path, std::string_view contents) {
  const std::string temporary = path + ".tmp" + std::to_string(::getpid());
  try {
    const FileDescriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file.valid()) throw system_error("create", path, errno);
    file.write_all(std::as_bytes(std::span(contents)), path);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    throw system_error("replace", path, reason);
  }
}

}  // namespace gradwire
