#include "results/points/nccl_log.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

#include "results/points/log_lines.h"
#include "results/points/nccl_json.h"

namespace gradwire::results {
namespace {

constexpr double kMostRanks = 1e6;
constexpr double kPrinted = 0.016e9;  ///< two decimals of GB/s, twice
constexpr double kRounding = 0.01;    ///< of times with three digits

/// busbw over algbw.
double bus_factor(NcclTest test, double ranks) {
  return (test == NcclTest::kAllReduce ? 2 : 1) * (ranks - 1) / ranks;
}

bool near(double a, double b) {
  return std::abs(a - b) <= kPrinted + kRounding * std::max(a, b);
}

std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// The name before "_perf" in a line, or empty.
std::string_view test_in(std::string_view line) {
  const auto end = line.find("_perf");
  if (end == std::string_view::npos) return {};
  const auto begin = line.find_last_not_of("abcdefghijklmnopqrstuvwxyz_", end);
  return line.substr(begin == std::string_view::npos ? 0 : begin + 1,
                     end - (begin == std::string_view::npos ? 0 : begin + 1));
}

std::optional<NcclTest> test_named(std::string_view name) {
  if (name == "all_reduce") return NcclTest::kAllReduce;
  if (name == "all_gather") return NcclTest::kAllGather;
  if (name == "reduce_scatter") return NcclTest::kReduceScatter;
  return std::nullopt;
}

/// Where the figures stand in a row.
struct Columns {
  std::size_t count = 0;
  std::size_t size = 0;
  struct Group {
    std::size_t time, algbw, busbw;
    std::optional<std::size_t> wrong;
  };
  std::vector<Group> groups;
};

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  void take(const LogLine& line) {
    const std::string_view name = test_in(line.text);
    if (!name.empty()) return take_name(line, name);
    if (line.text.find("nThread") != std::string_view::npos && line.text.starts_with('#'))
      return begin_run();
    if (line.text.starts_with('#')) return take_comment(line);
    const bool numbers =
        number_of(line.words[0]) && (line.words.size() == 1 || number_of(line.words[1]));
    if (numbers && columns_.count > 0) take_row(line);
  }

  std::vector<NcclRun> finish() {
    end_run();
    if (runs_.empty())
      refuse_log(file_, 0, "no size was measured in it",
                 "log all that all_reduce_perf, all_gather_perf or reduce_scatter_perf prints");
    return std::move(runs_);
  }

 private:
  void take_name(const LogLine& line, std::string_view name) {
    const bool concluded = line.text.find("concluded") != std::string_view::npos;
    if (concluded && !name_.empty()) return;
    if (!concluded && !run_.rows.empty()) end_run();
    name_ = name;
    name_line_ = line.number;
  }

  void begin_run() {
    if (!run_.rows.empty()) {
      end_run();
      name_.clear();
    }
    run_ = {};
    most_rank_ = -1;
    hosts_.clear();
    columns_ = {};
  }

  void take_comment(const LogLine& line) {
    if (std::find(line.words.begin(), line.words.end(), "algbw") != line.words.end())
      return take_header(line);
    if (line.text.find("Avg bus bandwidth") != std::string_view::npos) run_.finished = true;
    const auto rank = std::find(line.words.begin(), line.words.end(), "Rank");
    if (rank == line.words.end() || rank + 1 == line.words.end()) return;
    const auto number = number_of(*(rank + 1));
    if (!number || *number > kMostRanks) return;
    most_rank_ = std::max(most_rank_, static_cast<int>(*number));
    const auto on = std::find(rank, line.words.end(), "on");
    if (on != line.words.end() && on + 1 != line.words.end()) hosts_.emplace(*(on + 1));
  }

  void take_header(const LogLine& line) {
    columns_ = {};
    std::vector<std::string_view> words = line.words;
    if (words.front() == "#") words.erase(words.begin());
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == "size" || words[i] == "#size") columns_.size = i;
      if (words[i] == "cputime")
        refuse_log(file_, line.number, "its times are the CPU's, not the collective's",
                   "measure without -C");
      if (words[i] == "time") columns_.groups.push_back({i, 0, 0, std::nullopt});
      if (columns_.groups.empty()) continue;
      if (words[i] == "algbw") columns_.groups.back().algbw = i;
      if (words[i] == "busbw") columns_.groups.back().busbw = i;
      if (words[i] == "#wrong" || words[i] == "error") columns_.groups.back().wrong = i;
    }
    columns_.count = words.size();
    for (const Columns::Group& group : columns_.groups)
      if (group.algbw == 0 || group.busbw == 0)
        refuse_log(file_, line.number, "a time stands without algbw and busbw");
  }

  void take_row(const LogLine& line) {
    if (line.words.size() != columns_.count)
      refuse_log(file_, line.number,
                 std::to_string(line.words.size()) + " words under " +
                     std::to_string(columns_.count) +
                     " columns: cut off, or mixed with other output",
                 "remove the line, or log again without NCCL_DEBUG");
    NcclRow row{line.number, *number_of(line.words[columns_.size]), {}};
    if (row.bytes == 0) return;  // fewer elements than ranks: nothing was sent
    for (const Columns::Group& group : columns_.groups) row.timings.push_back(timing(line, group));
    for (const NcclTiming& timing : row.timings) check_rate(row, timing);
    run_.rows.push_back(std::move(row));
  }

  NcclTiming timing(const LogLine& line, const Columns::Group& group) const {
    const auto figure = [&](std::size_t column) {
      const auto number = number_of(line.words[column]);
      if (!number)
        refuse_log(file_, line.number, "\"" + std::string(line.words[column]) + "\" is no number");
      return *number;
    };
    NcclTiming timing{figure(group.time) * 1e-6, figure(group.algbw) * 1e9,
                      figure(group.busbw) * 1e9};
    if (timing.seconds <= 0) refuse_log(file_, line.number, "its time is 0");
    if (!group.wrong) return timing;
    // "N/A" where nothing was checked; old versions print the largest difference (5e-07).
    const auto wrong = number_of(line.words[*group.wrong]);
    timing.wrong = wrong && *wrong >= 1;
    return timing;
  }

  void check_rate(const NcclRow& row, const NcclTiming& timing) const {
    const double rate = row.bytes / timing.seconds;
    if (near(rate, timing.algbw)) return;
    refuse_log(file_, row.line,
               "size over time is " + text_of(rate * 1e-9) + " GB/s, yet algbw says " +
                   text_of(timing.algbw * 1e-9),
               "sizes are bytes, times us, bandwidths GB/s");
  }

  void end_run() {
    if (run_.rows.empty()) return;
    for (const NcclRow& row : run_.rows)
      if (row.timings.empty())
        refuse_log(file_, row.line, "no column of times was recognised",
                   "keep the two lines with the columns' names above the table");
    run_.hosts = static_cast<int>(hosts_.size());
    find_test();
    find_ranks();
    for (const NcclRow& row : run_.rows)
      for (const NcclTiming& timing : row.timings) check_bus(row, timing);
    runs_.push_back(std::move(run_));
    run_ = {};
  }

  void find_test() {
    if (!name_.empty()) {
      const auto test = test_named(name_);
      if (!test)
        refuse_log(file_, name_line_, "nobody reads " + name_ + "_perf",
                   "all_reduce_perf, all_gather_perf and reduce_scatter_perf are read");
      run_.test = *test;
      return;
    }
    if (most_rank_ < 1)
      refuse_log(file_, run_.rows.front().line, "neither the test nor its ranks are named",
                 "keep the lines above the table (\"# Collective test starting\", \"#  Rank\")");
    const NcclTiming& timing = fastest();
    const double factor = timing.busbw / std::max(timing.algbw, 1.0);
    const double reduce = bus_factor(NcclTest::kAllReduce, most_rank_ + 1);
    run_.test =
        std::abs(factor - reduce) < reduce / 4 ? NcclTest::kAllReduce : NcclTest::kAllGather;
  }

  const NcclTiming& fastest() const {
    const NcclTiming* best = &run_.rows.front().timings.front();
    for (const NcclRow& row : run_.rows)
      for (const NcclTiming& timing : row.timings)
        if (timing.busbw > best->busbw) best = &timing;
    return *best;
  }

  /// The ranks that the log lists, or those that busbw over algbw tells.
  void find_ranks() {
    run_.ranks = most_rank_ + 1;
    if (run_.ranks >= 2) return;
    const NcclTiming& timing = fastest();
    const double most = run_.test == NcclTest::kAllReduce ? 2 : 1;
    const double share = timing.busbw / std::max(timing.algbw, 1.0) / most;  // 1 - 1 / n
    const double ranks = share < 1 ? std::round(1 / (1 - share)) : 0;
    const double blur = kPrinted / std::max(timing.algbw, 1.0) / most;
    const double next = 1 / ranks - 1 / (ranks + 1);
    if (!(ranks >= 2) || ranks > kMostRanks || blur > next / 2)
      refuse_log(file_, run_.rows.front().line, "how many ranks there were cannot be told",
                 "keep the lines \"#  Rank ...\" above the table");
    run_.ranks = static_cast<int>(ranks);
  }

  void check_bus(const NcclRow& row, const NcclTiming& timing) const {
    const double expected = bus_factor(run_.test, run_.ranks) * timing.algbw;
    if (near(expected, timing.busbw)) return;
    refuse_log(file_, row.line,
               "busbw is " + text_of(timing.busbw * 1e-9) + " GB/s, yet " +
                   std::to_string(run_.ranks) + " ranks and algbw make it " +
                   text_of(expected * 1e-9),
               "are the lines of one run together?");
  }

  const std::string& file_;
  std::string name_;
  int name_line_ = 0;
  int most_rank_ = -1;
  std::set<std::string, std::less<>> hosts_;
  Columns columns_;
  NcclRun run_;
  std::vector<NcclRun> runs_;
};

}  // namespace

std::vector<NcclRun> read_nccl_log(std::string_view text, const std::string& file) {
  if (is_nccl_json(text))
    return read_nccl_log(nccl_table_of_json(text, file), file + ", as a table");
  Reader reader(file);
  for (const LogLine& line : log_lines(text)) reader.take(line);
  return reader.finish();
}

}  // namespace gradwire::results
