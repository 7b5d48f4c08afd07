#include "bench/cliffs/cliffs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <mutex>

#include "bench/cliffs/draw.h"
#include "bench/cliffs/shrink.h"
#include "bench/cliffs/stored.h"
#include "bench/cliffs/two_threads.h"
#include "bench/cliffs/verdict.h"
#include "bench/rows/timing.h"
#include "runner/interrupt.h"

namespace gradwire::bench {
namespace {

using nlohmann::ordered_json;

constexpr double kSearchShare = 0.7;  ///< of the time; the rest makes scenarios smaller
constexpr std::size_t kShown = 5;     ///< of the scenarios that are off
constexpr double kKeptError = 0.5;    ///< a smaller scenario shows this share of the error at least

struct Found {
  int number = 0;
  ordered_json scenario;
  Verdict verdict;
};

/// How far off, for an order: errors both ways count alike, twice as slow as twice as fast.
double size_of(const Verdict& verdict) {
  return std::abs(std::log(verdict.flow.mean / verdict.packet.mean));
}

const char* word_of(CliffKind kind) {
  return kind == CliffKind::kClean ? "clean" : kind == CliffKind::kCell ? "cell" : "lossy";
}

std::string summary_of(const std::string& name, const Verdict& verdict) {
  char text[240];
  std::snprintf(text, sizeof text, "%s, %s: flow %.6g s, packet %.6g s: %+.1f %%", name.c_str(),
                word_of(verdict.kind), verdict.flow.mean, verdict.packet.mean,
                100 * verdict.error());
  std::string line = text;
  if (verdict.kind != CliffKind::kClean && verdict.errors() != 0) {
    std::snprintf(text, sizeof text, ", %+.1f standard errors", verdict.errors());
    line += text;
  }
  if (verdict.spread > 0) {
    std::snprintf(text, sizeof text, ", ns-3's own spread %.1f %%", 100 * verdict.spread);
    line += text;
  }
  return line + (verdict.is_off() ? ": off" : "");
}

/// In one line: what it runs on what.
std::string title_of(const ordered_json& scenario) {
  const ordered_json& workload = scenario.at("workload");
  const std::string what = workload.contains("collective")
                               ? workload.at("collective").get<std::string>()
                           : workload.contains("transfers")
                               ? std::to_string(workload.at("transfers").size()) + " transfers"
                               : workload.items().begin().key();
  return what + " on " + scenario.at("network").value("topology", "star");
}

class Search {
 public:
  Search(const CliffsOptions& options, const Say& say)
      : options_(options),
        say_(say),
        begin_(now_s()),
        judge_(options.folder, [this] { return is_over(1); }) {}

  CliffsResult run() {
    const std::vector<int>& only = options_.numbers;
    const std::size_t count = only.empty() ? std::numeric_limits<std::size_t>::max() : only.size();
    in_two_threads(count, [&](std::size_t i) {
      if (is_over(kSearchShare)) return false;
      look_at(only.empty() ? static_cast<int>(i) : only[i]);
      return true;
    });
    std::ranges::sort(found_, [](const Found& a, const Found& b) {
      return size_of(a.verdict) > size_of(b.verdict);
    });
    CliffsResult result;
    result.rows = rows();
    const std::size_t shown = std::min(kShown, found_.size());
    result.scenarios.resize(shown);
    in_two_threads(shown, [&](std::size_t i) {
      result.scenarios[i] = smallest(found_[i]).dump(2) + "\n";
      return true;
    });
    result.interrupted = runner::interrupted_by() != 0;
    return result;
  }

 private:
  bool is_over(double share) const {
    return runner::interrupted_by() != 0 || now_s() - begin_ > share * 60 * options_.minutes;
  }

  bool says_all() const { return options_.list || !options_.numbers.empty(); }

  void look_at(int number) {
    const ordered_json scenario = draw_scenario(options_.seed, number);
    std::string why;
    const auto verdict = judge_.judge(scenario, measure_of(scenario), why);
    const std::lock_guard lock(mutex_);
    ++drawn_;
    if (!verdict) {
      if (says_all()) say_(std::to_string(number) + ": not compared: " + why);
      return;
    }
    verdicts_.push_back(*verdict);
    const std::string name = std::to_string(number) + ": " + title_of(scenario);
    if (verdict->is_off()) found_.push_back({number, scenario, *verdict});
    if (says_all() || verdict->is_off()) say_(summary_of(name, *verdict));
    say_progress();
  }

  /// Once a minute.
  void say_progress() {
    if (now_s() - said_ < 60) return;
    said_ = now_s();
    char text[120];
    std::snprintf(text, sizeof text, "%.0f of %g minutes: %d drawn, %zu compared, %zu off",
                  (said_ - begin_) / 60, options_.minutes, drawn_, verdicts_.size(), found_.size());
    say_(text);
  }

  /// Off by half as much at least, the same way.
  ordered_json smallest(const Found& found) {
    Verdict last = found.verdict;
    const ordered_json small = shrink(found.scenario, [&](const ordered_json& candidate) {
      if (is_over(1)) return false;
      std::string unused;
      const auto verdict = judge_.judge(candidate, measure_of(candidate), unused);
      if (!verdict || !verdict->is_off()) return false;
      if ((verdict->error() > 0) != (found.verdict.error() > 0)) return false;
      if (size_of(*verdict) < kKeptError * size_of(found.verdict)) return false;
      last = *verdict;
      return true;
    });
    const std::lock_guard lock(mutex_);
    say_(summary_of(std::to_string(found.number) + ", made smaller: " + title_of(small), last));
    ordered_json named = small;
    named["name"] = "cliff-" + std::to_string(options_.seed) + "-" + std::to_string(found.number);
    named["description"] = summary_of("Drawn by bench cliffs", last);
    return named;
  }

  std::vector<BenchRow> rows() const {
    std::vector<BenchRow> rows = {
        {.name = "cliffs.drawn", .value = double(drawn_), .unit = ""},
        {.name = "cliffs.compared", .value = double(verdicts_.size()), .unit = ""}};
    for (const CliffKind kind : {CliffKind::kClean, CliffKind::kChance, CliffKind::kCell}) {
      int count = 0, off = 0, close = 0;
      double worst = 0;
      for (const Verdict& verdict : verdicts_) {
        if (verdict.kind != kind) continue;
        ++count;
        close += verdict.is_close();
        if (!verdict.is_off()) continue;
        ++off;
        if (size_of(verdict) > std::abs(std::log1p(worst))) worst = verdict.error();
      }
      const std::string name = std::string("cliffs.") + word_of(kind);
      rows.push_back({.name = name + ".compared", .value = double(count), .unit = ""});
      rows.push_back(
          {.name = name + ".close", .value = count > 0 ? double(close) / count : 1, .unit = "1"});
      rows.push_back({.name = name + ".off", .value = double(off), .unit = "", .bar = 0});
      rows.push_back({.name = name + ".worst_off", .value = worst, .unit = "1"});
    }
    return labelled(std::move(rows), "simulated");
  }

  const CliffsOptions& options_;
  const Say& say_;
  double begin_ = 0;
  double said_ = 0;
  Judge judge_;
  std::mutex mutex_;
  int drawn_ = 0;
  std::vector<Verdict> verdicts_;
  std::vector<Found> found_;
};

}  // namespace

CliffsResult bench_cliffs(const CliffsOptions& options, const Say& say) {
  if (!options.cases_file.empty()) return bench_stored_cliffs(options, say);
  const runner::InterruptGuard guard;
  return Search(options, say).run();
}

}  // namespace gradwire::bench
