#include "results/points/iperf_log.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "results/points/log_lines.h"

namespace gradwire::results {
namespace {

using Json = nlohmann::json;

constexpr const char* kUdp = "it is a UDP test: its rate is what was asked for";
constexpr const char* kAgain = "measure again with iperf3 -c HOST, over TCP";

double member(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return 0;
  const double value = found->get<double>();
  return std::isfinite(value) && value > 0 ? value : 0;
}

const Json& part(const Json& object, const char* name) {
  static const Json none = Json::object();
  const auto found = object.find(name);
  return found != object.end() && found->is_object() ? *found : none;
}

/// The least round trip that a stream's sender saw; it is in microseconds.
std::optional<double> least_round_trip(const Json& end) {
  std::optional<double> least;
  const auto streams = end.find("streams");
  if (streams == end.end() || !streams->is_array()) return least;
  for (const Json& stream : *streams) {
    const double seen = stream.is_object() ? member(part(stream, "sender"), "min_rtt") * 1e-6 : 0;
    if (seen > 0) least = std::min(least.value_or(seen), seen);
  }
  return least;
}

IperfLog from_json(std::string_view text, const std::string& file) {
  const Json log = Json::parse(text, nullptr, false);
  if (!log.is_object()) refuse_log(file, 0, "its JSON is damaged or cut off", kAgain);
  if (log.contains("error") && log["error"].is_string())
    refuse_log(file, 0, "iperf3 failed: " + log["error"].get<std::string>(), kAgain);
  if (part(part(log, "start"), "test_start").value("protocol", Json()) == "UDP")
    refuse_log(file, 0, kUdp, kAgain);
  const Json& end = part(log, "end");
  const Json& sent = part(end, "sum_sent");
  const Json& received = part(end, "sum_received");
  const Json& best = member(received, "bits_per_second") > 0 ? received : sent;
  IperfLog read{member(best, "bits_per_second") / 8, member(best, "seconds"), std::nullopt,
                least_round_trip(end)};
  if (sent.contains("retransmits")) read.retransmits = member(sent, "retransmits");
  if (read.bytes_per_s <= 0 || read.seconds <= 0)
    refuse_log(file, 0, "its \"end\" has no rate: the test was cut off or moved nothing", kAgain);
  return read;
}

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

std::optional<Summary> summary_of(const LogLine& line) {
  const auto open = line.text.find('['), close = line.text.rfind(']');
  if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  const std::string_view label = line.text.substr(open, close - open);
  Summary summary{.sum = label.find("SUM") != std::string_view::npos,
                  .backwards = label.find("RX") != std::string_view::npos};
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

/// One stream of several is not the whole.
void take(const Summary& summary, const std::string& file, int line, std::optional<Summary>& into) {
  if (into && into->sum == summary.sum)
    refuse_log(file, line, "a second summary without [SUM], or a second test",
               "one test a file; several streams with -P have a [SUM] line");
  if (!into || summary.sum) into = summary;
}

struct Summaries {
  std::vector<std::pair<int, Summary>> all;

  std::optional<Summary> of(bool sender, const std::string& file) const {
    const bool sums =
        std::any_of(all.begin(), all.end(), [](const auto& s) { return s.second.sum; });
    std::optional<Summary> found;
    for (const auto& [line, summary] : all)
      if (summary.sender == sender && !summary.backwards && summary.sum == sums)
        take(summary, file, line, found);
    return found;
  }
};

IperfLog from_text(std::string_view text, const std::string& file) {
  Summaries summaries;
  for (const LogLine& line : log_lines(text)) {
    if (line.text.find("Datagrams") != std::string_view::npos)
      refuse_log(file, line.number, kUdp, kAgain);
    if (line.text.find("iperf3: error") != std::string_view::npos)
      refuse_log(file, line.number, std::string(line.text), kAgain);
    if (const auto summary = summary_of(line)) summaries.all.emplace_back(line.number, *summary);
  }
  const auto sent = summaries.of(true, file), received = summaries.of(false, file);
  const auto& best = received ? received : sent;
  if (!best)
    refuse_log(file, 0, "no line that ends in sender or receiver: cut off, or of iperf 2", kAgain);
  if (best->bytes_per_s <= 0 || best->seconds <= 0)
    refuse_log(file, 0, "nothing arrived in that test", kAgain);
  return {best->bytes_per_s, best->seconds, sent ? sent->retransmits : std::nullopt, std::nullopt};
}

}  // namespace

IperfLog read_iperf_log(std::string_view text, const std::string& file) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) refuse_log(file, 0, "it is empty", kAgain);
  return text[first] == '{' ? from_json(text, file) : from_text(text, file);
}

}  // namespace gradwire::results
