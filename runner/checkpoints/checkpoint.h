#pragma once
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/file_descriptor.h"
#include "runner/checkpoints/hashed_stream.h"

/// A run that was stopped, or killed, goes on from its last checkpoint: FOLDER/HASH-SEED-EXECUTOR/
/// holds
/// - `log`: what the run has asked of its executor (runner/checkpoints/submission_log.h), to which
///   it is always added; what was added after the last checkpoint is cut off;
/// - `state`: what the run knew at the checkpoint, put in its place whole: "GWCKPT2\n", the
///   program's version, the run's scenario hash, seed and executor, the log's length and hash, the
///   run's own content, and a hash of all that;
/// - `lock`: held by the process that works on the run.
namespace gradwire::runner {

struct CheckpointKey {
  std::string scenario_hash;
  std::uint64_t seed = 0;
  std::string executor;
  std::string version;  ///< of the program: others learn, or take time, otherwise
};

class Checkpoint {
 public:
  /// The folder of a run's checkpoint below `folder`, whether there is one or not.
  static std::string folder_of(const std::string& folder, const CheckpointKey& key);

  /// Locks it, and makes it where there is none. Throws Error where it cannot, or another process
  /// works on it.
  Checkpoint(const std::string& folder, const CheckpointKey& key);
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  /// Whether there is a state to go on from. Throws Error for a damaged one, or one of another
  /// version or run, naming the file.
  bool open();
  /// After open(): the run's content, and the log.
  std::istream& state() { return state_; }
  std::istream& old_log() { return old_log_; }

  /// What follows goes to this log: of an opened checkpoint behind what is there, else a new one.
  std::ostream& log();
  /// Makes what `content` writes, and the log so far, the checkpoint. False where it could not be
  /// written: the one before is still there; why_not() says why.
  bool save(const std::function<void(std::ostream&)>& content);
  const std::string& why_not() const { return why_not_; }
  const std::string& folder() const { return folder_; }
  std::int64_t bytes() const;  ///< of its files
  /// The run has ended: nothing is left.
  void remove();

 private:
  std::string file(const char* name) const { return folder_ + "/" + name; }
  void check_log(std::uint64_t length, std::uint64_t hash);

  CheckpointKey key_;
  std::string folder_;
  FileDescriptor lock_;
  std::ifstream state_, old_log_;
  std::optional<BlockHash> kept_;  ///< of the log that was opened
  std::ofstream log_file_;
  std::unique_ptr<HashedOut> log_bytes_;
  std::unique_ptr<std::ostream> log_;
  std::string why_not_;
};

/// Removes all checkpoints below `folder` for which `wanted(scenario hash, seed)` is false, and
/// gives their number. Those that a process works on stay.
int remove_checkpoints(
    const std::string& folder,
    const std::function<bool(const std::string& scenario_hash, std::uint64_t seed)>& wanted);

}  // namespace gradwire::runner
