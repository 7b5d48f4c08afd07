#include "results/points/nccl_kind.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

namespace gradwire::results {
namespace {

constexpr double kMostRanks = 1e6;
constexpr double kPrinted = 0.016e9;  ///< two decimals of GB/s, twice
constexpr double kHalfDigit = 0.005e9;
constexpr double kRounding = 0.01;  ///< of times with three digits
constexpr double kVisible = 0.1e9;  ///< an algbw whose busbw would not be printed as 0

struct Program {
  std::string_view name;
  std::optional<NcclTest> test;  ///< none: it is not read
  bool whole;                    ///< its size is of all ranks' buffers together
  std::string_view reductions;   ///< NcclReduction: what versions write; empty: told by name alone
  bool rooted;
};

/// Those that are read first: what cannot be told apart is taken for the first.
constexpr std::array<Program, 11> kPrograms = {{
    {"all_reduce", NcclTest::kAllReduce, false, "o", false},
    {"reduce_scatter", NcclTest::kReduceScatter, true, "o", false},
    {"all_gather", NcclTest::kAllGather, true, "an", false},
    {"alltoall", NcclTest::kAllToAll, true, "en", false},
    {"sendrecv", {}, false, "ao", false},
    {"hypercube", {}, true, "", false},
    {"alltoallv", {}, true, "", false},
    {"broadcast", {}, false, "an", true},
    {"reduce", {}, false, "o", true},
    {"gather", {}, true, "aen", true},
    {"scatter", {}, true, "aen", true},
}};

const Program* program_named(std::string_view name) {
  for (const Program& program : kPrograms)
    if (program.name == name) return &program;
  return nullptr;
}

/// busbw over size by time.
double bus_share(NcclTest test, double ranks) {
  return (test == NcclTest::kAllReduce ? 2 : 1) * (ranks - 1) / ranks;
}

bool near(double a, double b, double blur) {
  return std::abs(a - b) <= kPrinted + (kRounding + blur) * std::max(a, b);
}

std::string gigabytes(double bytes_per_s) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", bytes_per_s * 1e-9);
  return text;
}

/// A timing and its row.
struct TimedRow {
  const NcclLine* line;
  const NcclTiming* timing;
  double rate() const { return line->row.bytes / timing->seconds; }
};

class Teller {
 public:
  Teller(NcclRun& run, const std::vector<NcclLine>& lines, const NcclHints& hints,
         const std::string& file)
      : run_(run), lines_(lines), hints_(hints), file_(file), fastest_(fastest(lines)) {}

  void tell() {
    refuse_one_rank();
    run_.test = *read_program().test;
    run_.ranks = ranks();
    const bool old = of_old_version();
    for (const NcclLine& line : lines_) {
      NcclRow row = line.row;
      for (NcclTiming& timing : row.timings) check(row, timing, old);
      run_.rows.push_back(std::move(row));
    }
  }

 private:
  static TimedRow fastest(const std::vector<NcclLine>& lines) {
    TimedRow best{&lines.front(), &lines.front().row.timings.front()};
    for (const NcclLine& line : lines)
      for (const NcclTiming& timing : line.row.timings)
        if (timing.busbw > best.timing->busbw ||
            (best.timing->busbw == 0 && timing.algbw > best.timing->algbw))
          best = {&line, &timing};
    return best;
  }

  int first_line() const { return lines_.front().row.line; }

  void refuse_one_rank() const {
    const NcclTiming& best = *fastest_.timing;
    if (best.busbw > 0 || (hints_.ranks != 1 && best.algbw < kVisible)) return;
    refuse_log(file_, first_line(),
               (hints_.processes > 1 ? std::to_string(hints_.processes) +
                                           " processes of one rank each: nothing was sent"
                                     : std::string("it has one rank: nothing was sent")),
               "under mpirun or srun, build nccl-tests with make MPI=1; in one process, give it "
               "several GPUs (-g 2)");
  }

  /// Whether a table of these columns can be the program's.
  bool fits(const Program& program) const {
    const NcclLine& line = *fastest_.line;
    if (line.parts > 0 && program.whole != (line.parts > 1.5)) return false;
    if (program.rooted != line.rooted) return false;
    return program.reductions.find(static_cast<char>(line.reduction)) != std::string_view::npos;
  }

  /// Of sizes that are one rank's: an all-reduce of more than two has a busbw above its algbw.
  bool busbw_fits(const Program& program) const {
    if (program.whole) return true;
    const bool same = near(fastest_.rate(), fastest_.timing->busbw, fastest_.timing->blur);
    return program.test ? !same || hints_.ranks < 3 : same;
  }

  /// The program by its name, or else by its columns.
  const Program& program() {
    const Program* named = program_named(hints_.program);
    if (named && (hints_.announced || fits(*named))) return *named;
    if (hints_.announced) refuse_program(hints_.program);
    std::vector<const Program*> candidates;
    for (const Program& candidate : kPrograms)
      if (fits(candidate) && busbw_fits(candidate)) candidates.push_back(&candidate);
    if (candidates.empty())
      refuse_log(file_, first_line(), "its columns are those of none of nccl-tests' programs",
                 "keep the line that names the test (\"# Collective test starting\")");
    note(named, candidates);
    return *candidates.front();
  }

  void note(const Program* named, const std::vector<const Program*>& candidates) {
    const std::string taken = "taken for " + std::string(candidates.front()->name) + "_perf";
    if (named)
      run_.notes.push_back(log_place(file_, hints_.program_line) + ": " + hints_.program +
                           "_perf is named, but has other columns: " + taken);
    else if (candidates.size() > 1 && candidates.front()->test)
      run_.notes.push_back(log_place(file_, first_line()) + ": the test is not named: " + taken +
                           " (" + std::string(candidates[1]->name) +
                           "_perf prints the same columns)");
  }

  const Program& read_program() {
    const Program& found = program();
    if (!found.test) refuse_program(std::string(found.name));
    return found;
  }

  [[noreturn]] void refuse_program(const std::string& name) const {
    refuse_log(file_, hints_.program == name ? hints_.program_line : first_line(),
               "nobody reads " + name + "_perf",
               "all_reduce_perf, all_gather_perf, reduce_scatter_perf and alltoall_perf are read");
  }

  /// The ranks that the log lists, those that the size is of, or those that busbw tells.
  int ranks() const {
    if (hints_.ranks >= 2) return hints_.ranks;
    const double parts = std::round(fastest_.line->parts);
    if (run_.test != NcclTest::kAllReduce && parts >= 2 && parts <= kMostRanks)
      return static_cast<int>(parts);
    const double most = run_.test == NcclTest::kAllReduce ? 2 : 1, rate = fastest_.rate();
    const double share = fastest_.timing->busbw / rate / most;  // 1 - 1 / n
    const double ranks = share < 1 ? std::round(1 / (1 - share)) : 0;
    const double blur = kHalfDigit / rate / most + fastest_.timing->blur;
    const double next = 1 / ranks - 1 / (ranks + 1);
    if (!(ranks >= 2) || ranks > kMostRanks || blur > next / 2)
      refuse_log(file_, first_line(), "how many ranks there were cannot be told",
                 "keep the lines \"#  Rank ...\" above the table");
    return static_cast<int>(ranks);
  }

  /// Whether algbw is what busbw is: all-gathers and reduce-scatters before June 2020.
  bool of_old_version() const {
    if (run_.test != NcclTest::kAllGather && run_.test != NcclTest::kReduceScatter) return false;
    const NcclTiming& best = *fastest_.timing;
    return !near(fastest_.rate(), best.algbw, best.blur) && near(best.busbw, best.algbw, 0);
  }

  void check(const NcclRow& row, NcclTiming& timing, bool old) const {
    const double rate = row.bytes / timing.seconds;
    if (old) timing.algbw *= run_.ranks / (run_.ranks - 1.0);
    if (!near(rate, timing.algbw, timing.blur))
      refuse_log(file_, row.line,
                 "size over time is " + gigabytes(rate) + " GB/s, yet algbw says " +
                     gigabytes(timing.algbw),
                 "sizes are bytes, times us, bandwidths GB/s");
    const double expected = bus_share(run_.test, run_.ranks) * rate;
    if (!near(expected, timing.busbw, timing.blur))
      refuse_log(file_, row.line,
                 "busbw is " + gigabytes(timing.busbw) + " GB/s, yet " +
                     std::to_string(run_.ranks) + " ranks and algbw make it " + gigabytes(expected),
                 "are the lines of one run together?");
  }

  NcclRun& run_;
  const std::vector<NcclLine>& lines_;
  const NcclHints& hints_;
  const std::string& file_;
  TimedRow fastest_;
};

bool is_name(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_';
}

}  // namespace

std::string_view name_of(NcclTest test) {
  constexpr std::array<std::string_view, 4> kNames = {"all-reduce", "all-gather", "reduce-scatter",
                                                      "all-to-all"};
  return kNames[static_cast<std::size_t>(test)];
}

std::string_view nccl_program_in(std::string_view line, bool announced) {
  for (std::size_t at = line.find("_perf"); at != std::string_view::npos;
       at = line.find("_perf", at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && is_name(line[begin - 1])) --begin;
    const std::string_view name = line.substr(begin, at - begin), rest = line.substr(at + 5);
    const bool ends = rest.empty() || !is_name(rest.front()) || rest.starts_with("_mpi");
    if (ends && !name.empty() && (announced || program_named(name))) return name;
  }
  return {};
}

void tell_test(NcclRun& run, std::vector<NcclLine> lines, const NcclHints& hints,
               const std::string& file) {
  Teller(run, lines, hints, file).tell();
}

}  // namespace gradwire::results
