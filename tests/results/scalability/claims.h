#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

/// Holds the sentences of a scalability report against its rows, as a reader with a pencil would:
/// by the text alone, and by the rows of its JSON form.
namespace gradwire::testing {

struct ClaimRow {
  double seconds = 0, low_s = 0, efficiency = 0, throughput = 0;
  bool known = false, extrapolated = false;
  double model_s = 0;  ///< what the parts that the model says add up to; 0: it says nothing
};
using ClaimRows = std::map<std::string, std::map<int, ClaimRow>>;

inline ClaimRows claim_rows(const nlohmann::json& report) {
  ClaimRows rows;
  for (const auto& row : report.at("rows")) {
    ClaimRow& own = rows[row.at("name")][row.at("workers")];
    own.seconds = row.at("step_time_s");
    own.low_s = row.at("low_s");
    if (row.at("efficiency").is_number()) own.efficiency = row.at("efficiency");
    own.throughput = row.contains("samples_per_s") ? row["samples_per_s"] : row["exchanges_per_s"];
    own.known = row.at("provenance") != "predicted";
    own.extrapolated = row.at("extrapolated");
    if (row.contains("predicted_parts"))
      for (const auto& [part, seconds] : row["predicted_parts"].items())
        own.model_s += seconds.get<double>();
  }
  return rows;
}

/// One report's claims. `series`: that the answer is about.
class Claims {
 public:
  Claims(ClaimRows rows, std::string series, double target)
      : rows_(std::move(rows)), series_(std::move(series)), target_(target) {}

  /// What is wrong with the sentence; empty where nothing is.
  std::vector<std::string> refuted(const std::string& sentence) {
    found_.clear();
    reach(sentence);
    none_reaches(sentence);
    figures(sentence);
    peak(sentence);
    ahead(sentence);
    rests_on_model(sentence);
    return found_;
  }

  /// Beyond the runs no step becomes shorter with more workers.
  std::vector<std::string> falling_rows() {
    found_.clear();
    for (const auto& [name, rows] : rows_) {
      double longest = 0;
      for (const auto& [n, row] : rows) {
        if (row.extrapolated && 1.03 * row.seconds < longest)
          say(name + " becomes faster beyond its runs, on " + std::to_string(n));
        longest = row.extrapolated ? std::max(longest, row.seconds) : row.low_s;
      }
    }
    return found_;
  }

 private:
  using Match = std::smatch;

  void say(const std::string& what) { found_.push_back(what); }
  const std::map<int, ClaimRow>& own() const { return rows_.at(series_); }
  bool meets(const ClaimRow& row, double target) const { return row.efficiency >= target - 1e-9; }

  template <typename Check>
  void each(const std::string& text, const char* form, Check check) {
    const std::regex pattern(form);
    for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
      check(*it);
  }

  /// "At an efficiency of 80 % it scales to 8 workers", "... to more than 128 workers"
  void reach(const std::string& text) {
    each(text, R"(it scales to (more than )?(\d+) workers( at least)?)", [&](const Match& match) {
      const int n = std::stoi(match[2]);
      const bool open = match[1].matched || match[3].matched;
      const auto row = own().find(n);
      if (row == own().end()) {
        if (!match[1].matched || !meets(own().rbegin()->second, target_))
          say("no row says so of " + match[2].str() + " workers");
      } else if (!meets(row->second, target_)) {
        say("the row of " + match[2].str() + " workers is below the target");
      }
      for (const auto& [more, other] : own())
        if (more > n && meets(other, target_) && !open)
          say(std::to_string(more) + " workers have the target, too");
    });
  }

  /// "Not even 2 workers have ...", "None of the numbers ...", "The target of ... is unreachable"
  void none_reaches(const std::string& text) {
    each(text, R"((Not even 2 workers have|None of the numbers|is unreachable: two workers))",
         [&](const Match&) {
           for (const auto& [n, row] : own())
             if (n > 1 && meets(row, target_))
               say("unreachable, but " + std::to_string(n) + " workers have the target");
         });
    each(text, R"(is unreachable: two workers already have ([\d.]+) %)", [&](const Match& match) {
      if (std::stod(match[1]) / 100 >= target_) say("unreachable, but two workers have it");
    });
  }

  /// "16 workers have 39.1 % (simulated", of the series or of one that is named before it.
  void figures(const std::string& text) {
    each(text,
         R"((?:with ([^;,()]+?) )?(\d+) workers(?:, too,)? have (?:less: )?([\d.]+) % \((\w+))",
         [&](const Match& match) {
           const std::string name = match[1].matched ? match[1].str() : series_;
           const auto rows = rows_.find(name);
           if (rows == rows_.end()) return say("no series " + name);
           const auto row = rows->second.find(std::stoi(match[2]));
           if (row == rows->second.end()) return say("no row of " + match[2].str() + " workers");
           if (std::abs(100 * row->second.efficiency - std::stod(match[3])) > 0.051)
             say(match[0].str() + ": the row differs");
           if (row->second.known == (match[4] == "predicted"))
             say(match[0].str() + ": of runs, or predicted?");
         });
  }

  /// "up to 16 workers, throughput is highest on 8", "Run 8 workers rather than 16", and
  /// "adding workers lowers throughput, which is highest on 8 workers"
  void peak(const std::string& text) {
    each(text, R"(up to (\d+) workers, throughput is highest on (\d+))", [&](const Match& match) {
      for (const auto& [n, row] : own())
        if (n <= std::stoi(match[1]) && row.throughput > 1.001 * throughput(match[2]))
          say("throughput is higher on " + std::to_string(n));
      if (lone() > 1.04 * throughput(match[2])) say("a lone worker does more");
    });
    each(text, R"(adding workers lowers throughput, which is highest on (\d+))",
         [&](const Match& match) {
           for (const auto& [n, row] : own())
             if (row.throughput > 1.001 * throughput(match[1]))
               say("throughput is higher on " + std::to_string(n));
         });
    each(text, R"([Rr]un (\d+) workers? rather than (\d+))", [&](const Match& match) {
      if (throughput(match[1]) <= throughput(match[2])) say(match[0].str() + ": it is less");
    });
  }

  /// "on 64, fp16 is ahead of topk 1% (" and "from 64 on, ..."
  void ahead(const std::string& text) {
    each(text, R"((on|from) (\d+)(?: on)?, (.+?) is ahead of (.+?) \()", [&](const Match& match) {
      for (const auto& [n, row] : rows_.at(match[3])) {
        const bool meant = match[1] == "on" ? n == std::stoi(match[2]) : n >= std::stoi(match[2]);
        const auto other = rows_.at(match[4]).find(n);
        if (meant && other != rows_.at(match[4]).end() && row.seconds >= other->second.seconds)
          say("not ahead on " + std::to_string(n));
      }
    });
  }

  /// What only a model can say: it must meet the runs that it is fitted to.
  void rests_on_model(const std::string& text) {
    if (!std::regex_search(text, std::regex(R"(instead of [\d.]+ [GMk]?bps|moves the throughput)")))
      return;
    for (const auto& [n, row] : own())
      if (row.known && std::abs(row.model_s / row.seconds - 1) > 0.2)
        say("concluded from a model that misses the runs on " + std::to_string(n));
  }

  /// What one worker does that waits for nobody: an n-th of the throughput over the efficiency.
  double lone() const {
    const auto& [n, row] = *own().begin();
    return row.efficiency > 0 ? row.throughput / row.efficiency / n : 0;
  }
  double throughput(const std::string& workers) const {
    const auto row = own().find(std::stoi(workers));
    return row != own().end() ? row->second.throughput : workers == "1" ? lone() : 0;
  }

  ClaimRows rows_;
  std::string series_;
  double target_;
  std::vector<std::string> found_;
};

/// The series of "16 workers with topk 1% (accuracy unknown) process ..."; the only one's where
/// none is named.
inline std::string headline_series(const ClaimRows& rows, const std::string& sentence) {
  std::string best = rows.size() == 1 ? rows.begin()->first : "";
  std::size_t longest = 0;
  for (const auto& [name, own] : rows)
    for (const char* form : {"with ", "("})
      if (sentence.find(form + name) != std::string::npos && name.size() > longest) {
        best = name;
        longest = name.size();
      }
  return best;
}

/// All that a report's rows refute of what it says; `accuracy_notes` are its sentences on methods.
inline std::vector<std::string> refuted_claims(const nlohmann::json& report,
                                               const std::vector<std::string>& accuracy_notes) {
  const ClaimRows rows = claim_rows(report);
  std::vector<std::string> sentences = report.at("answer"), all;
  const std::string series = headline_series(rows, sentences.at(0));
  if (series.empty()) return all;  // the answer is about no series
  for (const std::string& note : accuracy_notes)
    if (note.starts_with(series + ": loses accuracy") &&
        sentences[0].find("loses accuracy") == std::string::npos)
      all.push_back("the headline's series loses accuracy: " + sentences[0]);
  if (sentences[0].find("the fastest of the series that may be recommended") != std::string::npos)
    for (const auto& [name, own] : rows) {
      const bool loses = std::ranges::any_of(accuracy_notes, [&](const std::string& note) {
        return note.starts_with(name + ": loses accuracy");
      });
      const int n = std::stoi(sentences[0]);
      if (!loses && own.contains(n) && own.at(n).throughput > rows.at(series).at(n).throughput)
        all.push_back(name + " is faster: " + sentences[0]);
    }
  for (const auto& more : report.at("recommendations")) sentences.push_back(more);
  Claims claims(rows, series, report.at("target_efficiency"));
  for (const std::string& sentence : sentences)
    for (const std::string& what : claims.refuted(sentence)) all.push_back(what + ": " + sentence);
  for (const std::string& what : claims.falling_rows()) all.push_back(what);
  return all;
}

}  // namespace gradwire::testing
