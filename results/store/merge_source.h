#pragma once
#include <memory>
#include <string>

#include "base/temporary_file.h"
#include "results/store/sqlite.h"

namespace gradwire::results {

/// A database whose runs are merged into another: never written, not even brought up to date. Where
/// it is of an older schema, a copy of it in the system's temporary folder is read in its place.
class MergeSource {
 public:
  /// `trusted`: this program wrote the file, and nobody has it open. Throws StoreError: missing, no
  /// database of ours, newer, damaged anywhere (which takes reading it through, unless trusted).
  MergeSource(const std::string& path, bool trusted, int busy_timeout_ms);

  /// Of the present schema.
  const Connection& connection() const { return *connection_; }

 private:
  void require_sound() const;
  void read_a_copy();

  std::string path_;
  std::unique_ptr<TemporaryFolder> folder_;  ///< of the copy
  std::unique_ptr<Connection> connection_;
};

}  // namespace gradwire::results
