#pragma once
#include <string>
#include <string_view>

namespace gradwire {

/// Where the system keeps what is temporary: TMPDIR, else /tmp. Throws Error where that is no
/// folder.
std::string temporary_root();

/// A file for what wants a path, under a name of its own in the system's temporary folder; it goes
/// away with its owner.
class TemporaryFile {
 public:
  /// `suffix`: the end of its name (".json"). Throws Error naming the path and the reason.
  explicit TemporaryFile(std::string_view contents, std::string_view suffix = {});
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The same for a folder, which goes away with all that is in it.
class TemporaryFolder {
 public:
  /// Throws Error naming the path and the reason.
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }
  /// The path of a file of that name in it.
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

}  // namespace gradwire
