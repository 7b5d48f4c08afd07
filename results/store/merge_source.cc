#include "results/store/merge_source.h"

#include <algorithm>
#include <filesystem>

#include "results/store/schema.h"
#include "results/store/store.h"

namespace gradwire::results {
namespace {

void require_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw StoreError("merge", path, "there is no such file", "check its name and folder");
}

}  // namespace

MergeSource::MergeSource(const std::string& path, bool trusted, int busy_timeout_ms) : path_(path) {
  require_file(path);
  connection_ = std::make_unique<Connection>(
      path, trusted ? Connection::Access::kImmutable : reading_access(path), busy_timeout_ms);
  const int version = checked_version(*connection_, schema_version());
  if (!trusted) require_sound();
  if (version < schema_version()) read_a_copy();
}

/// Rows of a damaged page might be missing without a word.
void MergeSource::require_sound() const {
  Statement check(*connection_, "PRAGMA quick_check(1)", "merge");
  std::string words = check.step() ? check.column_text(0) : std::string("it says nothing");
  std::ranges::replace(words, '\n', ' ');
  if (words != "ok")
    throw StoreError("merge", path_, "the file is damaged (" + words + ")",
                     "keep it as it is, recover what is left with `sqlite3 FILE .recover`, and "
                     "merge that");
}

void MergeSource::read_a_copy() {
  folder_ = std::make_unique<TemporaryFolder>();
  const std::string copy = folder_->file("copy.db");
  auto target = std::make_unique<Connection>(copy, Connection::Access::kCreate, 0);
  connection_->copy_to(*target, "merge a copy of");
  migrate(*target, migrations());
  connection_ = std::move(target);
}

}  // namespace gradwire::results
