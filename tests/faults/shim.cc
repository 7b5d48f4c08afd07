#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

/// Preloaded beside a program: calls of the C library that touch files below a folder are counted,
/// and from one of them on, or that one alone, they fail. It stands in for disks that are full or
/// broken, file systems without locks, and clocks that are set.
///
///   FAULTS_FOLDER  the folder
///   FAULTS_AT      number of the call that fails, from 1 on; 0 or absent: none does
///   FAULTS_KIND    ENOSPC EDQUOT EIO EINTR EACCES EMFILE ENOLCK, short (half of what is to be
///                  written is), or clock (an hour back, on every clock that can be set)
///   FAULTS_LAST    number of the last call that fails; absent: all that follow
///   FAULTS_COUNT   a file that is told how many calls there were
///
/// Which calls a kind concerns: all for EIO; those that take room for ENOSPC and EDQUOT; writes for
/// short and EINTR (reads too), opening for EACCES and EMFILE, locks for ENOLCK.
namespace {

enum Calls : unsigned {
  kOpen = 1,
  kRead = 2,
  kWrite = 4,
  kSync = 8,
  kRoom = 16,
  kLock = 32,
  kMove = 64
};

struct Kind {
  const char* name;
  int error;
  unsigned calls;
};
constexpr Kind kKinds[] = {{"ENOSPC", ENOSPC, kWrite | kRoom},
                           {"EDQUOT", EDQUOT, kWrite | kRoom},
                           {"EIO", EIO, kRead | kWrite | kSync | kRoom | kMove},
                           {"EINTR", EINTR, kRead | kWrite},
                           {"EACCES", EACCES, kOpen | kMove},
                           {"EMFILE", EMFILE, kOpen},
                           {"ENOLCK", ENOLCK, kLock},
                           {"short", 0, kWrite},
                           {"clock", 0, 0}};

struct Settings {
  char folder[4096] = "";
  std::size_t length = 0;
  unsigned long at = 0, last = ~0ul;
  Kind kind = {"", 0, 0};
  const char* count_file = nullptr;
};
Settings settings;
std::atomic<unsigned long> calls{0};

unsigned long number_in(const char* name, unsigned long otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoul(text, nullptr, 10);
}

__attribute__((constructor)) void read_settings() {
  const char* folder = std::getenv("FAULTS_FOLDER");
  if (folder == nullptr || realpath(folder, settings.folder) == nullptr) return;
  settings.length = std::strlen(settings.folder);
  settings.at = number_in("FAULTS_AT", 0);
  settings.last = number_in("FAULTS_LAST", ~0ul);
  settings.count_file = std::getenv("FAULTS_COUNT");
  const char* kind = std::getenv("FAULTS_KIND");
  for (const Kind& each : kKinds)
    if (kind != nullptr && std::strcmp(kind, each.name) == 0) settings.kind = each;
}

__attribute__((destructor)) void tell_count() {
  if (settings.count_file == nullptr) return;
  char text[32];
  const int size = std::snprintf(text, sizeof text, "%lu\n", calls.load());
  const long fd =
      syscall(SYS_openat, AT_FDCWD, settings.count_file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return;
  if (syscall(SYS_write, fd, text, size) < 0) return;
  syscall(SYS_close, fd);
}

bool is_below(const char* path) {
  return settings.length > 0 && std::strncmp(path, settings.folder, settings.length) == 0 &&
         (path[settings.length] == '/' || path[settings.length] == '\0');
}

bool concerns(int fd) {
  if (settings.length == 0 || fd < 0) return false;
  char link[64], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const long size = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (size <= 0) return false;
  path[size] = '\0';
  return is_below(path);
}

/// Counts a call of the kind's; whether it is one that fails.
bool fails(unsigned call) {
  if ((settings.kind.calls & call) == 0) return false;
  const unsigned long number = ++calls;
  return settings.at > 0 && number >= settings.at && number <= settings.last;
}
bool fails_on(int fd, unsigned call) {
  return concerns(fd) && fails(call);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool is_short() {
  return settings.kind.error == 0;
}

template <class Result>
Result failed() {
  errno = settings.kind.error;
  return Result(-1);
}

/// Of a path that is opened with `flags`: what is made takes room.
bool fails_opening(const char* path, int flags) {
  char whole[4096];
  const char* from = path;
  if (path[0] != '/' && getcwd(whole, sizeof whole - 1) != nullptr) {
    std::strncat(whole, "/", sizeof whole - std::strlen(whole) - 1);
    std::strncat(whole, path, sizeof whole - std::strlen(whole) - 1);
    from = whole;
  }
  if (!is_below(from)) return false;
  return fails((flags & O_CREAT) != 0 ? kOpen | kRoom : kOpen);
}

int open_with(const char* name, const char* path, int flags, mode_t mode) {
  if (fails_opening(path, flags)) return failed<int>();
  return next<int(const char*, int, ...)>(name)(path, flags, mode);
}

long seconds_back(clockid_t clock) {
  const bool can_be_set = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (!can_be_set || std::strcmp(settings.kind.name, "clock") != 0) return 0;
  return ++calls >= settings.at ? 3600 : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  return open_with("open", path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  return open_with("open64", path, flags, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  if (fails_opening(path, mode[0] == 'r' ? O_RDONLY : O_CREAT)) {
    errno = settings.kind.error;
    return nullptr;
  }
  return next<FILE*(const char*, const char*)>("fopen64")(path, mode);
}

ssize_t read(int fd, void* to, size_t size) {
  return fails_on(fd, kRead) ? failed<ssize_t>()
                             : next<ssize_t(int, void*, size_t)>("read")(fd, to, size);
}
ssize_t pread64(int fd, void* to, size_t size, off64_t at) {
  if (fails_on(fd, kRead)) return failed<ssize_t>();
  return next<ssize_t(int, void*, size_t, off64_t)>("pread64")(fd, to, size, at);
}

ssize_t write(int fd, const void* from, size_t size) {
  const bool fault = fails_on(fd, kWrite);
  if (fault && !is_short()) return failed<ssize_t>();
  return next<ssize_t(int, const void*, size_t)>("write")(fd, from,
                                                          fault && size > 1 ? size / 2 : size);
}
ssize_t pwrite64(int fd, const void* from, size_t size, off64_t at) {
  const bool fault = fails_on(fd, kWrite);
  if (fault && !is_short()) return failed<ssize_t>();
  return next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64")(
      fd, from, fault && size > 1 ? size / 2 : size, at);
}
ssize_t writev(int fd, const iovec* parts, int count) {
  const bool fault = fails_on(fd, kWrite);
  if (fault && !is_short()) return failed<ssize_t>();
  if (fault && count > 0)
    return next<ssize_t(int, const void*, size_t)>("write")(fd, parts[0].iov_base,
                                                            (parts[0].iov_len + 1) / 2);
  return next<ssize_t(int, const iovec*, int)>("writev")(fd, parts, count);
}

int fsync(int fd) {
  return fails_on(fd, kSync) ? failed<int>() : next<int(int)>("fsync")(fd);
}
int fdatasync(int fd) {
  return fails_on(fd, kSync) ? failed<int>() : next<int(int)>("fdatasync")(fd);
}
int ftruncate64(int fd, off64_t size) {
  return fails_on(fd, kRoom) ? failed<int>() : next<int(int, off64_t)>("ftruncate64")(fd, size);
}
int fcntl64(int fd, int command, ...) {
  va_list more;
  va_start(more, command);
  void* const argument = va_arg(more, void*);
  va_end(more);
  const bool locks = command == F_SETLK || command == F_SETLKW || command == F_GETLK;
  if (locks && fails_on(fd, kLock)) return failed<int>();
  return next<int(int, int, ...)>("fcntl64")(fd, command, argument);
}
int rename(const char* from, const char* to) {
  return is_below(to) && fails(kMove) ? failed<int>()
                                      : next<int(const char*, const char*)>("rename")(from, to);
}
int mkdir(const char* path, mode_t mode) {
  return is_below(path) && fails(kMove | kRoom)
             ? failed<int>()
             : next<int(const char*, mode_t)>("mkdir")(path, mode);
}

int clock_gettime(clockid_t clock, timespec* time) {
  const int result = next<int(clockid_t, timespec*)>("clock_gettime")(clock, time);
  time->tv_sec -= seconds_back(clock);
  return result;
}
int gettimeofday(timeval* time, void* zone) {
  const int result = next<int(timeval*, void*)>("gettimeofday")(time, zone);
  time->tv_sec -= seconds_back(CLOCK_REALTIME);
  return result;
}
time_t time(time_t* to) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != nullptr) *to = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
