#include "runner/checkpoints/checkpoint.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/folder.h"
#include "base/serial.h"

namespace gradwire::runner {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'G', 'W', 'C', 'K', 'P', 'T', '2', '\n'};

[[noreturn]] void refuse_file(const std::string& file, const std::string& reason) {
  throw Error(ErrorKind::kFailure, "resume from", file, reason,
              "run without --resume to start afresh");
}

/// Not valid where another process holds it.
FileDescriptor lock(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644));
  if (!file.valid())
    throw system_error("open", path, errno, "make the folder writable, or remove it");
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) file.close();
  return file;
}

/// The same, after a while: a process that was killed holds its locks until the kernel is through
/// with its memory.
FileDescriptor lock_in_time(const std::string& path) {
  constexpr auto kPatience = std::chrono::seconds(5);
  constexpr auto kPause = std::chrono::milliseconds(20);
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    FileDescriptor file = lock(path);
    if (file.valid() || std::chrono::steady_clock::now() - start > kPatience) return file;
    std::this_thread::sleep_for(kPause);
  }
}

/// Whether it is on the disk for good.
bool sync_file(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.valid() && ::fsync(file.get()) == 0;
}

std::string folder_name(const CheckpointKey& key) {
  return key.scenario_hash + "-" + std::to_string(key.seed) + "-" + key.executor;
}

}  // namespace

std::string Checkpoint::folder_of(const std::string& folder, const CheckpointKey& key) {
  return folder + "/" + folder_name(key);
}

Checkpoint::Checkpoint(const std::string& folder, const CheckpointKey& key)
    : key_(key), folder_(folder_of(folder, key)) {
  make_folder(folder_, "make the database's folder writable");
  lock_ = lock_in_time(file("lock"));
  if (!lock_.valid())
    throw Error(ErrorKind::kFailure, "run", folder_,
                "another process works on this run: same scenario, seed and database",
                "wait for it, or use another --db");
}

bool Checkpoint::open() {
  const std::string path = file("state");
  if (!fs::exists(path)) return false;
  if (!fs::is_regular_file(path)) refuse_file(path, "it is no file");
  state_.open(path, std::ios::binary);
  const auto size = static_cast<std::uint64_t>(fs::file_size(path));
  if (!state_ || size < sizeof kMagic + 8)
    refuse_file(path, "it cannot be read, or ends too early");
  const std::uint64_t hash = hash_of(state_, size - 8).value();
  if (get<std::uint64_t>(state_) != hash)
    refuse_file(path, "it is damaged: its check sum is wrong");
  state_.seekg(0);
  char magic[sizeof kMagic] = {};
  state_.read(magic, sizeof magic);
  if (std::memcmp(magic, kMagic, sizeof magic) != 0) refuse_file(path, "it is not a checkpoint");
  if (const std::string version = get_text(state_); version != key_.version)
    refuse_file(path, "gradwire " + version + " wrote it, and this is " + key_.version);
  if (const std::string of = get_text(state_); of != folder_name(key_))
    refuse_file(path, "it is of another run: " + of + " (scenario's hash, seed, executor)");
  const auto log_length = get<std::uint64_t>(state_);
  check_log(log_length, get<std::uint64_t>(state_));
  return true;
}

/// Cuts off what came after the checkpoint.
void Checkpoint::check_log(std::uint64_t length, std::uint64_t hash) {
  const std::string path = file("log");
  old_log_.open(path, std::ios::binary);
  kept_ = hash_of(old_log_, length);
  if (kept_->length() != length || kept_->value() != hash)
    refuse_file(path, "it is damaged: its check sum is wrong");
  std::error_code failed;
  fs::resize_file(path, length, failed);
  if (failed) refuse_file(path, failed.message());
  old_log_.clear();
  old_log_.seekg(0);
}

std::ostream& Checkpoint::log() {
  if (log_) return *log_;
  if (!kept_) {
    std::error_code ignored;
    fs::remove(file("state"), ignored);  // of a run that starts afresh now
  }
  log_file_.open(file("log"), std::ios::binary | (kept_ ? std::ios::app : std::ios::trunc));
  log_bytes_ = kept_ ? std::make_unique<HashedOut>(log_file_, *kept_)
                     : std::make_unique<HashedOut>(log_file_);
  log_ = std::make_unique<std::ostream>(log_bytes_.get());
  return *log_;
}

bool Checkpoint::save(const std::function<void(std::ostream&)>& content) {
  const auto failed = [this](const std::string& path) {
    why_not_ = path + ": " + std::strerror(errno);
    return false;
  };
  if (!log().flush() || !sync_file(file("log"))) return failed(file("log"));
  const std::string next = file("state.next");
  std::ofstream out(next, std::ios::binary | std::ios::trunc);
  HashedOut bytes(out);
  std::ostream hashed(&bytes);
  hashed.write(kMagic, sizeof kMagic);
  put_text(hashed, key_.version);
  put_text(hashed, folder_name(key_));
  put(hashed, log_bytes_->hash().length());
  put(hashed, log_bytes_->hash().value());
  content(hashed);
  put(out, bytes.hash().value());
  out.close();
  if (!hashed || !out || !sync_file(next)) return failed(next);
  return std::rename(next.c_str(), file("state").c_str()) == 0 || failed(file("state"));
}

std::int64_t Checkpoint::bytes() const {
  std::int64_t sum = 0;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder_, failed)) {
    const auto size = entry.file_size(failed);
    if (!failed) sum += static_cast<std::int64_t>(size);
  }
  return sum;
}

void Checkpoint::remove() {
  state_.close();
  old_log_.close();
  log_file_.close();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  fs::remove(fs::path(folder_).parent_path(), ignored);  // only if it is empty
}

int remove_checkpoints(const std::string& folder,
                       const std::function<bool(const std::string&, std::uint64_t)>& wanted) {
  int removed = 0;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    const std::size_t seed_at = name.find('-') + 1;
    if (seed_at == 0 || name.find('-', seed_at) == std::string::npos) continue;
    const std::uint64_t seed = std::strtoull(name.c_str() + seed_at, nullptr, 10);
    if (wanted(name.substr(0, seed_at - 1), seed)) continue;
    const FileDescriptor held = lock(entry.path().string() + "/lock");
    if (!held.valid()) continue;
    std::error_code ignored;
    fs::remove_all(entry.path(), ignored);
    ++removed;
  }
  std::error_code ignored;
  fs::remove(folder, ignored);  // only if it is empty
  return removed;
}

}  // namespace gradwire::runner
