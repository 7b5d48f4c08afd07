#pragma once
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "results/store/store.h"

/// Where the processes of a sweep hand in what they have done: FILE.parts beside the database.
namespace gradwire::engines {

/// The path of a part of that name.
std::string part_file(const std::string& folder, const std::string& name);

/// The folder, held by one command at a time.
class PartsFolder {
 public:
  /// Makes it where it is missing. Throws Error(kStore), here and from write(): another command
  /// holds it, or there is no room or no right to write beside the database.
  explicit PartsFolder(const std::string& path);
  PartsFolder(const PartsFolder&) = delete;
  PartsFolder& operator=(const PartsFolder&) = delete;
  /// Takes it away, unless parts are left in it, or a job that goes on without us (its file `job`).
  ~PartsFolder();

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const;
  /// Whole parts in it, by name; halves that a lost process has left go away.
  std::vector<std::string> parts() const;

 private:
  std::string path_;
  FileDescriptor lock_;
};

/// Stores a part that an earlier command has left, whatever runs it holds, and removes it.
void store_left_part(const std::string& part, results::Store& store);
/// The same of all parts in a folder, where there is one that no other command holds.
void store_left_parts(const std::string& folder, results::Store& store);

}  // namespace gradwire::engines
