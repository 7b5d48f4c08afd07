#include "trainers/channel/state_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/hash.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

constexpr const char* kRemedy =
    "make room or the folder writable, give --memory more, or put --db elsewhere";

std::uint64_t hash_of(std::span<const std::byte> state) {
  Hasher hasher;
  hasher.add_bytes(state);
  return hasher.value();
}

/// What has a name for a moment, where the file system has no files without.
FileDescriptor open_unnamed(const std::string& folder) {
  FileDescriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.valid() || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
  std::string path = folder + "/gradwire-states-XXXXXX";
  file = FileDescriptor(::mkostemp(path.data(), O_CLOEXEC));
  if (file.valid()) ::unlink(path.c_str());
  return file;
}

}  // namespace

void StateFile::open() {
  file_ = open_unnamed(folder_);
  if (!file_.valid())
    throw TrainerError("make a file for " + what_ + " in", folder_, std::strerror(errno), kRemedy);
}

std::int64_t StateFile::write(std::span<const std::byte> state) {
  GRADWIRE_ASSERT(state.size() == state_bytes_);
  if (!file_.valid()) open();
  const auto end = static_cast<std::int64_t>(hashes_.size());
  const std::int64_t place = free_.empty() ? end : *free_.begin();
  const std::int64_t first = place * static_cast<std::int64_t>(state_bytes_);
  for (std::size_t done = 0; done < state.size();) {
    const ssize_t wrote = ::pwrite(file_.get(), state.data() + done, state.size() - done,
                                   first + static_cast<std::int64_t>(done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0)
      throw TrainerError("write " + what_ + " to a file in", folder_,
                         std::string(std::strerror(wrote < 0 ? errno : ENOSPC)) + "; it holds " +
                             format_bytes(length()),
                         kRemedy);
    done += static_cast<std::size_t>(wrote);
  }
  if (place == end)
    hashes_.push_back(0);
  else
    free_.erase(place);
  hashes_[static_cast<std::size_t>(place)] = hash_of(state);
  return place;
}

void StateFile::read(std::int64_t place, std::span<std::byte> state) const {
  GRADWIRE_ASSERT(state.size() == state_bytes_);
  const auto refuse = [&](const std::string& reason) {
    throw TrainerError("read " + what_ + " from a file in", folder_, reason,
                       "check the disk; --resume goes on from the last checkpoint");
  };
  const std::int64_t first = place * static_cast<std::int64_t>(state_bytes_);
  for (std::size_t done = 0; done < state.size();) {
    const ssize_t got = ::pread(file_.get(), state.data() + done, state.size() - done,
                                first + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(std::strerror(errno));
    if (got == 0) refuse("it ends too early");
    done += static_cast<std::size_t>(got);
  }
  if (hash_of(state) != hashes_[static_cast<std::size_t>(place)])
    refuse("it is damaged: a check sum is wrong");
}

}  // namespace gradwire::trainers
