#include <filesystem>

#include "results/store/merge_source.h"
#include "results/store/run_copier.h"
#include "results/store/sqlite_store.h"

/// The merging part of SqliteStore.
namespace gradwire::results {
namespace {

constexpr const char* kMergingInto = "merge runs into";
constexpr int kSourceTimeout_ms = 5000;  ///< its writer may be closing it

/// A run as far as its fate depends on it.
struct Known {
  RunId id = 0;
  std::string uid;
  RunStatus status = RunStatus::kRunning;
  std::int64_t steps = 0;
};

constexpr const char* kKnownColumns = "SELECT id, uid, status, steps_done FROM runs ";

Known known_from(const Statement& row) {
  return {row.column_integer(0), row.column_text(1), run_status(row.column_text(2)),
          row.column_integer(3)};
}

bool is_unfinished(RunStatus status) {
  return status == RunStatus::kRunning || status == RunStatus::kPartial;
}

/// Whether what is there stands for more than what is here.
bool went_further(const Known& there, const Known& here) {
  if (!is_unfinished(here.status)) return false;
  return !is_unfinished(there.status) || there.steps > here.steps;
}

std::vector<Known> all_runs(const Connection& source) {
  std::vector<Known> runs;
  Statement rows(source, std::string(kKnownColumns) + "ORDER BY id", "read the runs of");
  while (rows.step()) runs.push_back(known_from(rows));
  return runs;
}

std::vector<Known> named_runs(const Connection& source, const std::vector<RunId>& names) {
  std::vector<Known> runs;
  Statement row(source, std::string(kKnownColumns) + "WHERE id = ?", "read the runs of");
  for (const RunId name : names) {
    row.bind(1, name);
    if (!row.step())
      throw StoreError("merge", "run " + std::to_string(name) + " of " + source.path(),
                       "there is no such run");
    runs.push_back(known_from(row));
    row.reset();
  }
  return runs;
}

/// Merges runs one by one, within transactions of both databases.
class Merger {
 public:
  Merger(const Connection& source, const Connection& target)
      : copier_(source, target),
        find_(target, std::string(kKnownColumns) + "WHERE uid = ?", kMergingInto),
        remove_(target, "DELETE FROM runs WHERE id = ?", kMergingInto),
        find_tags_(target, "SELECT tag FROM tags WHERE run_id = ?", kMergingInto),
        add_tag_(target, "INSERT OR IGNORE INTO tags (run_id, tag) VALUES (?, ?)", kMergingInto) {}

  /// Its number here; 0 = left out.
  RunId merge(const Known& run) {
    if (run.status == RunStatus::kRunning) {
      ++counts_.running;
      return 0;
    }
    const Known here = find(run.uid);
    if (here.id > 0 && !went_further(run, here)) {
      ++counts_.present;
      return here.id;
    }
    if (run.status == RunStatus::kPartial) ++counts_.partial;
    ++(here.id > 0 ? counts_.replaced : counts_.added);
    return here.id > 0 ? replace(run, here.id) : copier_.copy(run.id, 0);
  }

  const MergeCounts& counts() const { return counts_; }

 private:
  Known find(const std::string& uid) {
    find_.bind(1, uid);
    const Known known = find_.step() ? known_from(find_) : Known{};
    find_.reset();
    return known;
  }

  RunId replace(const Known& run, RunId here) {
    std::vector<std::string> tags;
    find_tags_.bind(1, here);
    while (find_tags_.step()) tags.push_back(find_tags_.column_text(0));
    find_tags_.reset();
    remove_.bind(1, here).run();
    copier_.copy(run.id, here);
    for (const std::string& tag : tags) add_tag_.bind(1, here).bind(2, tag).run();
    return here;
  }

  RunCopier copier_;
  Statement find_, remove_, find_tags_, add_tag_;
  MergeCounts counts_;
};

void refuse_itself(const std::string& source, const std::string& target) {
  std::error_code ignored;
  if (std::filesystem::equivalent(source, target, ignored))
    throw StoreError("merge", source, "it is the database that the runs go into",
                     "leave it out, or name another one with --db");
}

}  // namespace

MergeResult SqliteStore::merge(const std::string& source, const MergeOptions& options) {
  const std::scoped_lock lock(mutex_);
  require_writable(kMergingInto);
  refuse_itself(source, connection_.path());
  const MergeSource from(source, options.trusted, kSourceTimeout_ms);
  const Connection& there = from.connection();
  // What has been merged also survives a power cut: the sources may be thrown away.
  connection_.execute("PRAGMA synchronous=FULL", kMergingInto);
  MergeResult result;
  {
    Transaction reading(there, Transaction::Kind::kRead, "read runs to merge from");
    Transaction transaction(connection_, Transaction::Kind::kWrite, kMergingInto);
    Merger merger(there, connection_);
    for (const Known& run : options.runs ? named_runs(there, *options.runs) : all_runs(there))
      result.runs.push_back(merger.merge(run));
    result.counts = merger.counts();
    transaction.commit();
  }
  connection_.execute("PRAGMA synchronous=NORMAL", kMergingInto);
  return result;
}

}  // namespace gradwire::results
