#include "results/points/iperf_log.h"

#include <algorithm>
#include <cmath>

#include "results/points/iperf_json.h"
#include "results/points/json_documents.h"
#include "results/points/log_lines.h"

namespace gradwire::results {
namespace {

constexpr const char* kAgain = "measure again with iperf3 -c HOST, over TCP";

/// "938" "Mbits/sec" in B/s. Bits have decimal prefixes there, bytes binary ones.
std::optional<double> rate_of(std::string_view number, std::string_view unit) {
  const auto value = number_of(number);
  const bool bits = unit.ends_with("bits/sec"), bytes = unit.ends_with("Bytes/sec");
  if (!value || (!bits && !bytes)) return std::nullopt;
  const std::string_view prefix = unit.substr(0, unit.size() - (bits ? 8 : 9));
  const std::string_view known = "KMGT";
  const auto power = prefix.empty() ? std::string_view::npos : known.find(prefix);
  if (!prefix.empty() && power == std::string_view::npos) return std::nullopt;
  const double exponent = prefix.empty() ? 0 : static_cast<double>(power + 1);
  return *value * std::pow(bits ? 1000 : 1024, exponent) / (bits ? 8 : 1);
}

/// A summary line: what is left of "[  5]   0.00-10.00  sec  1.09 GBytes   938 Mbits/sec   12
/// sender" behind its brackets.
struct Summary {
  bool sum = false, sender = false, backwards = false;
  double seconds = 0, bytes_per_s = 0;
  std::optional<double> retransmits;
};

/// "[SUM][RX-C" of what stands before the last bracket; other brackets stand apart from these.
std::string_view label_before(std::string_view text) {
  auto open = text.rfind('[');
  while (open != std::string_view::npos && open > 0 && text[open - 1] == ']')
    open = text.rfind('[', open - 1);
  return text.substr(std::min(open, text.size()));
}

std::optional<Summary> summary_of(const LogLine& line) {
  const auto close = line.text.rfind(']');
  if (close == std::string_view::npos) return std::nullopt;
  const std::string_view label = label_before(line.text.substr(0, close));
  Summary summary;
  summary.sum = label.find("SUM") != std::string_view::npos;
  summary.backwards = label.find("RX") != std::string_view::npos;
  std::vector<std::string_view> words;
  for (const std::string_view word : line.words)
    if (word.data() > line.text.data() + close) words.push_back(word);
  if (words.size() < 7 || words[1] != "sec") return std::nullopt;
  if (words.back() != "sender" && words.back() != "receiver") return std::nullopt;
  summary.sender = words.back() == "sender";
  const auto dash = words[0].find('-');
  const auto begin = number_of(words[0].substr(0, dash));
  const auto end = dash == std::string_view::npos ? begin : number_of(words[0].substr(dash + 1));
  const auto rate = rate_of(words[4], words[5]);
  if (!begin || !end || !rate) return std::nullopt;
  summary.seconds = *end - *begin;
  summary.bytes_per_s = *rate;
  if (words.size() == 8) summary.retransmits = number_of(words[6]);
  return summary;
}

/// "170M", "1g", "100M/10" (with bursts) in bit/s; 0 where it is no rate, or none.
double limit_in(std::string_view text) {
  text = text.substr(0, text.find('/'));
  if (text.empty()) return 0;
  const std::string_view units = "kKmMgGtT";
  const auto unit = units.find(text.back());
  if (unit != std::string_view::npos) text.remove_suffix(1);
  const double scale =
      unit == std::string_view::npos ? 1 : std::pow(1000, static_cast<double>(unit / 2 + 1));
  return number_of(text).value_or(0) * scale;
}

/// The rate that a command line ("iperf3 -c host -b 170M") or -V ("Target Bitrate: 170000000") asks
/// of each stream, bit/s; 0 = any. Nothing where the line is neither.
std::optional<double> limit_of(const LogLine& line) {
  const auto& words = line.words;
  for (std::size_t i = 0; i + 2 < words.size(); ++i)
    if (words[i] == "Target" && words[i + 1] == "Bitrate:") return limit_in(words[i + 2]);
  auto word = std::find_if(words.begin(), words.end(), [](std::string_view one) {
    return one == "iperf3" || one.ends_with("/iperf3");
  });
  if (word == words.end()) return std::nullopt;
  for (; word != words.end(); ++word)
    for (const std::string_view option : {"-b", "--bitrate", "--bandwidth", "--fq-rate"}) {
      if (!word->starts_with(option)) continue;
      const std::string_view rest = word->substr(option.size());
      if (rest.empty()) return word + 1 == words.end() ? 0 : limit_in(*(word + 1));
      if (rest.front() == '=') return limit_in(rest.substr(1));
      if (option == "-b") return limit_in(rest);
    }
  return 0;
}

/// The lines of one test.
class TextTest {
 public:
  bool empty() const { return summaries_.empty(); }
  int line() const { return line_; }
  void set_line(int line) { line_ = line; }
  void add(int line, const Summary& summary, double limit) {
    if (line_ == 0) line_ = line;
    limit_ = limit;
    summaries_.emplace_back(line, summary);
  }

  IperfLog read(const std::string& file) const {
    const auto sent = of(true, file), received = of(false, file);
    const auto& best = received ? received : sent;
    if (!best)
      refuse_log(file, 0, "no line that ends in sender or receiver: cut off, or of iperf 2",
                 kAgain);
    if (best->bytes_per_s <= 0 || best->seconds <= 0)
      refuse_log(file, 0, "nothing arrived in that test", kAgain);
    const auto streams = std::count_if(summaries_.begin(), summaries_.end(), [&](const auto& one) {
      return !one.second.sum && !one.second.backwards && one.second.sender == !received;
    });
    refuse_limited(best->bytes_per_s, limit_, std::max(1.0, static_cast<double>(streams)), file,
                   line_);
    return {best->bytes_per_s, best->seconds, sent ? sent->retransmits : std::nullopt, std::nullopt,
            line_};
  }

 private:
  /// One stream of several is not the whole.
  std::optional<Summary> of(bool sender, const std::string& file) const {
    const bool sums = std::any_of(summaries_.begin(), summaries_.end(),
                                  [](const auto& s) { return s.second.sum; });
    std::optional<Summary> found;
    for (const auto& [line, summary] : summaries_) {
      if (summary.sender != sender || summary.backwards || summary.sum != sums) continue;
      if (found)
        refuse_log(file, line, "a second summary without [SUM], or a second test",
                   "keep the lines \"Connecting to host\" between tests; several streams with -P "
                   "have a [SUM] line");
      found = summary;
    }
    return found;
  }

  std::vector<std::pair<int, Summary>> summaries_;
  int line_ = 0;
  double limit_ = 0;  ///< of each stream, bit/s; 0 = none
};

/// Tests one after the other, of a client or a server.
class TextReader {
 public:
  explicit TextReader(const std::string& file) : file_(file) {}

  void take(const LogLine& line) {
    const auto has = [&](std::string_view part) {
      return line.text.find(part) != std::string_view::npos;
    };
    if (has("Datagrams"))
      refuse_log(file_, line.number, "it is a UDP test: its rate is what was asked for", kAgain);
    if (has("iperf3: error")) refuse_log(file_, line.number, std::string(line.text), kAgain);
    if (const auto limit = limit_of(line)) limit_ = *limit;
    if (has("Connecting to host") || has("Accepted connection from")) {
      next();
      test_.set_line(line.number);
    }
    if (const auto summary = summary_of(line)) test_.add(line.number, *summary, limit_);
  }

  IperfLogs finish() {
    if (!test_.empty() || logs_.tests.empty()) logs_.tests.push_back(test_.read(file_));
    if (test_.empty() && test_.line() > 0) leave_out();
    if (logs_.tests.size() == 1) logs_.tests.front().line = 0;
    return std::move(logs_);
  }

 private:
  void next() {
    if (!test_.empty()) {
      logs_.tests.push_back(test_.read(file_));
      test_ = {};
    } else if (test_.line() > 0) {
      leave_out();
      test_ = {};
    }
  }

  void leave_out() {
    logs_.unread.push_back(log_place(file_, test_.line()) + ": a test without a summary; left out");
  }

  const std::string& file_;
  TextTest test_;
  double limit_ = 0;
  IperfLogs logs_;
};

}  // namespace

IperfLogs read_iperf_log(std::string_view bytes, const std::string& file) {
  const std::string text = plain_log(bytes, file);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    refuse_log(file, 0, "it is empty", kAgain);
  if (has_json_documents(text)) return read_iperf_json(text, file);
  TextReader reader(file);
  for (const LogLine& line : log_lines(text)) reader.take(line);
  return reader.finish();
}

}  // namespace gradwire::results
