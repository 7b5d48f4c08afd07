#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gradwire {

/// Owns one descriptor and closes it. Move-only: two owners would close it twice.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void close() noexcept;
  int release() { return std::exchange(fd_, -1); }

  /// Writes all of `bytes` or throws Error (interrupted calls are repeated).
  void write_all(std::span<const std::byte> bytes, std::string_view subject) const;
  /// Reads up to bytes.size(); 0 means end of file.
  std::size_t read_some(std::span<std::byte> bytes, std::string_view subject) const;
  /// Reads exactly bytes.size(); returns false at a clean end of file, throws on a torn one.
  bool read_exact(std::span<std::byte> bytes, std::string_view subject) const;

 private:
  int fd_ = -1;
};

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

/// Close-on-exec pipe.
Pipe make_pipe();

/// The whole file as bytes in a string. Throws Error naming the path and the reason.
std::string read_file(const std::string& path);
/// Writes through a temporary name and renames: a reader sees the old or the new file, never half.
void write_file(const std::string& path, std::string_view contents);

}  // namespace gradwire
