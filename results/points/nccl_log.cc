#include "results/points/nccl_log.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "results/points/log_lines.h"
#include "results/points/nccl_columns.h"
#include "results/points/nccl_json.h"
#include "results/points/nccl_kind.h"

namespace gradwire::results {
namespace {

constexpr double kMostListed = 1e6;

/// The whole number behind a word of a line.
std::optional<int> number_behind(const LogLine& line, std::string_view word) {
  const auto found = std::find(line.words.begin(), line.words.end(), word);
  if (found == line.words.end() || found + 1 == line.words.end()) return std::nullopt;
  const auto number = number_of(*(found + 1));
  if (!number || *number > kMostListed) return std::nullopt;
  return static_cast<int>(*number);
}

/// "# nThread 1 nGpus 8 minBytes ..."
bool begins_run(const LogLine& line) {
  return number_behind(line, "nThread") && number_behind(line, "nGpus");
}

/// The ranks that a log lists before a table.
class RankList {
 public:
  /// Of "nThread 1 nGpus 8": a process's ranks. Its list may hold the first of them only.
  void begin(const LogLine& line) {
    *this = {};
    const double ranks = std::max(1, number_behind(line, "nThread").value_or(1)) *
                         std::max(1.0, 1.0 * number_behind(line, "nGpus").value_or(1));
    per_process_ = static_cast<int>(std::min(ranks, kMostListed));
  }

  /// "#  Rank  0 Group  0 Pid 100 on node device  0 [0x07] GPU"; false where the line is none.
  bool add(const LogLine& line) {
    const auto rank = number_behind(line, "Rank");
    const auto on = std::find(line.words.begin(), line.words.end(), "on");
    if (!rank || on == line.words.end() || on + 1 == line.words.end()) return false;
    if (std::find(on, line.words.end(), "device") == line.words.end()) return false;
    const std::string place =
        std::to_string(number_behind(line, "Pid").value_or(0)) + " on " + std::string(*(on + 1));
    const int group = number_behind(line, "Group").value_or(0);
    const auto [listed, is_new] = places_.emplace(*rank, place);
    if (!is_new && listed->second == place) return true;  // the same line, twice
    if (!is_new) twice_ = twice_ > 0 ? twice_ : line.number;
    if (*rank == 0) ++firsts_;
    if (places_.size() == 1) group_ = group;
    groups_[group] += is_new ? 1 : 0;
    if (group == group_) hosts_.emplace(*(on + 1));
    return true;
  }

  /// Of all groups; processes have equally many.
  int ranks() const {
    if (places_.empty()) return 0;
    const int processes = places_.rbegin()->first / per_process_ + 1;
    return processes * per_process_;
  }
  int groups() const { return std::max<int>(1, static_cast<int>(groups_.size())); }
  bool even() const {
    return std::all_of(groups_.begin(), groups_.end(), [this](const auto& group) {
      return group.second == groups_.begin()->second;
    });
  }
  int hosts() const { return static_cast<int>(hosts_.size()); }
  int processes() const { return firsts_; }  ///< that list a rank 0
  int twice() const { return twice_; }       ///< the line where a rank is listed again; 0 = none

 private:
  int per_process_ = 1, group_ = 0, firsts_ = 0, twice_ = 0;
  std::map<int, std::string> places_;
  std::map<int, int> groups_;  ///< ranks that are listed
  std::set<std::string, std::less<>> hosts_;
};

class NcclReader {
 public:
  explicit NcclReader(const std::string& file) : file_(file) {}

  void take(const LogLine& line) {
    take_name(line);
    if (begins_run(line)) return begin_run(line);
    if (NcclColumns::is_header(line)) return begin_table(line);
    if (ranks_.add(line)) return;
    if (has(line, "Avg bus bandwidth")) run_.finished = true;
    if (has(line, "bits/sec")) note_iperf(line);
    if (!columns_.has(line)) return;
    NcclLine read = columns_.read(line, file_);
    header_line_ = 0;
    if (read.row.bytes > 0)
      lines_.push_back(std::move(read));
    else if (empty_++ == 0)  // fewer elements than ranks
      first_empty_ = line.number;
  }

  std::vector<NcclRun> finish() {
    end_run();
    end_table();
    if (runs_.empty())
      refuse_log(file_, 0, "no size was measured in it",
                 "log all that the test prints, until it concludes");
    runs_.back().notes.insert(runs_.back().notes.end(), notes_.begin(), notes_.end());
    return std::move(runs_);
  }

 private:
  static bool has(const LogLine& line, std::string_view part) {
    return line.text.find(part) != std::string_view::npos;
  }

  void take_name(const LogLine& line) {
    const auto announced = line.text.find("Collective test ");
    const bool announces = announced != std::string_view::npos;
    if (hints_.announced && !announces) return;  // a label, or what comes next
    const std::string_view name =
        nccl_program_in(line.text.substr(announces ? announced : 0), announces);
    if (name.empty()) return;
    const bool concludes = has(line, "Collective test concluded");
    if (concludes && hints_.announced) return;
    if (!concludes && (announces || name != hints_.program)) end_run();
    hints_.program = name;
    hints_.program_line = line.number;
    hints_.announced = announces;
  }

  void begin_run(const LogLine& line) {
    if (!lines_.empty()) {
      end_run();
      hints_ = {};
    }
    ranks_.begin(line);
    columns_ = {};
  }

  void begin_table(const LogLine& line) {
    end_table();
    columns_ = NcclColumns(line, file_);
    header_line_ = line.number;
  }

  /// Columns' names with no row below them.
  void end_table() {
    if (header_line_ > 0)
      notes_.push_back(log_place(file_, header_line_) + ": no size was measured in this table");
    header_line_ = 0;
  }

  void end_run() {
    if (lines_.empty()) return;
    if (ranks_.twice() > 0 && ranks_.ranks() > 1)
      refuse_log(file_, ranks_.twice(), "a rank is listed a second time: two tests are mixed",
                 "give each test's log as a file of its own");
    if (!ranks_.even())
      refuse_log(file_, lines_.front().row.line, "its groups have different numbers of ranks",
                 "measure groups of one size (NCCL_TESTS_SPLIT)");
    run_.hosts = ranks_.hosts();
    run_.groups = ranks_.groups();
    hints_.ranks = ranks_.ranks() / run_.groups;
    hints_.processes = ranks_.processes();
    run_.notes = std::move(notes_);
    notes_ = {};
    tell_test(run_, std::move(lines_), hints_, file_);
    note_empty();
    runs_.push_back(std::move(run_));
    run_ = {};
    lines_ = {};
  }

  void note_iperf(const LogLine& line) {
    if (std::exchange(has_iperf_, true)) return;
    notes_.push_back(log_place(file_, line.number) +
                     ": lines of iperf3 are not read here; give them as a file of their own");
  }

  void note_empty() {
    if (empty_ == 0) return;
    const std::string rows = empty_ == 1 ? "a row" : std::to_string(empty_) + " rows from here";
    run_.notes.push_back(log_place(file_, first_empty_) + ": " + rows +
                         " of size 0: nothing was sent; left out");
    empty_ = 0;
  }

  const std::string& file_;
  NcclHints hints_;
  RankList ranks_;
  NcclColumns columns_;
  int header_line_ = 0;              ///< of a table that has no row yet
  std::vector<NcclLine> lines_;      ///< of the run that is read
  int empty_ = 0, first_empty_ = 0;  ///< rows of size 0
  bool has_iperf_ = false;
  std::vector<std::string> notes_;
  NcclRun run_;
  std::vector<NcclRun> runs_;
};

std::vector<NcclRun> read_tables(std::string_view text, const std::string& file) {
  NcclReader reader(file);
  for (const LogLine& line : log_lines(text)) reader.take(line);
  return reader.finish();
}

}  // namespace

bool is_nccl_log(std::string_view text) {
  if (is_nccl_json(text)) return true;
  const std::vector<LogLine> lines = log_lines(text);
  return std::any_of(lines.begin(), lines.end(), [](const LogLine& line) {
    return NcclColumns::is_header(line) || NcclColumns::is_row(line) || begins_run(line);
  });
}

std::vector<NcclRun> read_nccl_log(std::string_view bytes, const std::string& file) {
  const std::string text = plain_log(bytes, file);
  if (!is_nccl_json(text)) return read_tables(text, file);
  std::vector<std::string> unread;
  const std::string tables = nccl_table_of_json(text, file, unread);
  std::vector<NcclRun> runs = read_tables(tables, file + ", as a table");
  for (NcclRun& run : runs)
    for (NcclRow& row : run.rows) row.line = 0;  // the file has none of its own
  runs.back().notes.insert(runs.back().notes.end(), unread.begin(), unread.end());
  return runs;
}

}  // namespace gradwire::results
