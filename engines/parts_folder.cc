#include "engines/parts_folder.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/error.h"
#include "base/folder.h"

namespace gradwire::engines {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin = "part-", kEnd = ".db";

bool is_part(const std::string& name) {
  return name.starts_with(kBegin) && name.ends_with(kEnd);
}

FileDescriptor open_lock(const std::string& folder) {
  const std::string lock = folder + "/lock";
  FileDescriptor file(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file.valid()) throw system_error("open", lock, errno);
  return file;
}

/// What cannot be written beside the database is the database's trouble, whatever file it is.
template <class Write>
auto as_store_error(Write&& write) {
  try {
    return write();
  } catch (const Error& error) {
    throw Error(ErrorKind::kStore, error.what());
  }
}

bool try_lock(const FileDescriptor& lock) {
  return ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

std::string part_file(const std::string& folder, const std::string& name) {
  return folder + "/" + std::string(kBegin) + name + std::string(kEnd);
}

PartsFolder::PartsFolder(const std::string& path) : path_(fs::absolute(path).string()) {
  lock_ = as_store_error([&] {
    make_folder(path_, "use another database with --db");
    return open_lock(path_);
  });
  if (!try_lock(lock_))
    throw Error(ErrorKind::kStore, "share a sweep out in", path_,
                "another command does so for the same database",
                "wait until it has finished, or use another database with --db");
}

PartsFolder::~PartsFolder() {
  std::error_code ignored;
  if (fs::exists(file("job"), ignored)) return;
  for (const char* name : {"lock", "work", "settings"}) fs::remove(file(name), ignored);
  if (fs::is_empty(path_, ignored)) fs::remove(path_, ignored);
}

void PartsFolder::write(const std::string& name, const std::string& text) const {
  as_store_error([&] { write_file(file(name), text); });
}

std::vector<std::string> PartsFolder::parts() const {
  std::vector<std::string> parts;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename().string();
    if (is_part(name)) parts.push_back(entry.path().string());
    std::error_code ignored;
    if (name.starts_with(kBegin) && !is_part(name)) fs::remove(entry.path(), ignored);
  }
  std::ranges::sort(parts);
  return parts;
}

void store_left_part(const std::string& part, results::Store& store) {
  store.merge(part);
  std::error_code ignored;
  fs::remove(part, ignored);
}

void store_left_parts(const std::string& folder, results::Store& store) {
  // Whoever holds it stores them.
  if (!fs::exists(folder) || !try_lock(open_lock(folder))) return;
  const PartsFolder held(folder);
  for (const std::string& part : held.parts()) store_left_part(part, store);
}

}  // namespace gradwire::engines
