#pragma once
#include <string>
#include <vector>

/// Runs the built `gradwire` as its user would.
namespace gradwire::testing {

struct Result {
  int exit_code = 0;
  std::string out;
  std::string err;
};

/// Runs bin/gradwire with `arguments`; `prefix` may be a shell snippet that execs "$@".
Result run_program(const std::vector<std::string>& arguments, const std::string& prefix = {});
std::string program_path();
/// A file of the source tree.
std::string source_path(const std::string& relative);

/// A fresh folder that is removed with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace gradwire::testing
