#include "base/folder.h"

#include <filesystem>

#include "base/error.h"

namespace gradwire {

void make_folder(const std::string& path, const std::string& advice) {
  std::error_code problem;
  std::filesystem::create_directories(path, problem);
  if (problem) throw Error(ErrorKind::kFailure, "make the folder", path, problem.message(), advice);
}

void make_folder_of(const std::string& path, const std::string& advice) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty()) make_folder(folder, advice);
}

}  // namespace gradwire
