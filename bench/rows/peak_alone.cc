#include "bench/rows/peak_alone.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/file_descriptor.h"
#include "base/peak_memory.h"

namespace gradwire::bench {
namespace {

/// In the copy: the answer's bytes, or none.
[[noreturn]] void answer(const std::function<void()>& work, const FileDescriptor& out) {
  int code = 1;
  try {
    const PeakMemory memory;
    work();
    if (const std::optional<std::int64_t> bytes = memory.bytes()) {
      out.write_all(std::as_bytes(std::span(&*bytes, 1)), "the caller of a measured copy");
      code = 0;
    }
  } catch (...) {  // the caller runs the same work, and tells what it throws
  }
  ::_exit(code);
}

}  // namespace

std::optional<std::int64_t> peak_alone(const std::function<void()>& work) {
  Pipe pipe = make_pipe();
  const pid_t child = ::fork();
  if (child == 0) answer(work, pipe.write_end);
  pipe.write_end.close();
  std::int64_t bytes = 0;
  const bool is_whole =
      child > 0 && pipe.read_end.read_exact(std::as_writable_bytes(std::span(&bytes, 1)),
                                            "a copy whose memory is measured");
  if (child > 0) ::waitpid(child, nullptr, 0);
  return is_whole ? std::optional(bytes) : std::nullopt;
}

}  // namespace gradwire::bench
