#include "base/temporary_file.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/file_descriptor.h"

namespace gradwire {
namespace {

/// Ends with what makes it a name of its own.
std::string pattern() {
  return temporary_root() + "/gradwire-XXXXXX";
}

}  // namespace

std::string temporary_root() {
  std::error_code error;
  const std::filesystem::path root = std::filesystem::temp_directory_path(error);
  if (!error) return root.string();
  const char* variable = std::getenv("TMPDIR");
  throw Error(ErrorKind::kFailure, "keep temporary files in", variable ? variable : "/tmp",
              "it is no folder that can be read", "set TMPDIR to a folder that you may write to");
}

TemporaryFile::TemporaryFile(std::string_view contents, std::string_view suffix)
    : path_(pattern() + std::string(suffix)) {
  const FileDescriptor taken(::mkstemps(path_.data(), static_cast<int>(suffix.size())));
  if (!taken.valid()) throw system_error("make a temporary file", path_, errno);
  write_file(path_, contents);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

TemporaryFolder::TemporaryFolder() : path_(pattern()) {
  if (!::mkdtemp(path_.data())) throw system_error("make a temporary folder", path_, errno);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace gradwire
