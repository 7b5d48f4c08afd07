#include "base/error.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gradwire {
namespace {

std::string join(std::string_view attempted, std::string_view subject, std::string_view reason,
                 std::string_view remedy) {
  std::string text = "cannot ";
  text.append(attempted);
  if (!subject.empty()) text.append(" ").append(subject);
  text.append(": ").append(reason);
  if (!remedy.empty()) text.append("; ").append(remedy);
  return text;
}

/// What helps against most failures of a kind; empty where nothing is known.
std::string_view remedy_for(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case EISDIR:
      return "check the path";
    case EACCES:
    case EPERM:
      return "check its rights and those of its folder";
    case EROFS:
      return "name a place on a disk that can be written to";
    case ENOSPC:
    case EDQUOT:
      return "make room there, or name a place on another disk";
    case EIO:
      return "check the disk (dmesg), or name a place on another one";
    case EMFILE:
    case ENFILE:
      return "allow more open files (ulimit -n), or run fewer things at a time";
    case ENOMEM:
    case EAGAIN:
      return "free some memory, or run fewer things at a time";
    case ENOLCK:
      return "use a file system that has locks, such as a local disk's";
    default:
      return {};
  }
}

}  // namespace

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kFailure:
      return 1;
    case ErrorKind::kUsage:
      return 2;
    case ErrorKind::kScenario:
      return 3;
    case ErrorKind::kPartial:
      return 4;
    case ErrorKind::kCapability:
      return 5;
    case ErrorKind::kStore:
      return 6;
    case ErrorKind::kGate:
      return 7;
    case ErrorKind::kInterrupted:
      return 130;
    case ErrorKind::kTerminated:
      return 143;
  }
  return 1;
}

Error::Error(ErrorKind kind, std::string_view attempted, std::string_view subject,
             std::string_view reason, std::string_view remedy)
    : kind_(kind), message_(join(attempted, subject, reason, remedy)) {}

Error::Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}

Error system_error(std::string_view attempted, std::string_view subject, int error_number,
                   std::string_view remedy) {
  if (remedy.empty()) remedy = remedy_for(error_number);
  return Error(ErrorKind::kFailure, attempted, subject, std::strerror(error_number), remedy);
}

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s (this is a bug in Gradwire)\n", file, line,
               condition);
  std::abort();
}

}  // namespace gradwire
