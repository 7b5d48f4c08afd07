#include "results/points/iperf_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "results/points/json_documents.h"
#include "results/points/log_lines.h"

namespace gradwire::results {
namespace {

using Json = nlohmann::json;

constexpr const char* kAgain = "measure again with iperf3 -c HOST, over TCP";
/// Of what was asked for: below it, the link gave less.
constexpr double kLimited = 0.95;

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

/// What each stream was limited to, bit/s; 0 = not. Versions before 3.11 have it in "start".
double limit_of(const Json& start) {
  const Json& test = part(start, "test_start");
  double limit = 0;
  for (const double one : {member(test, "target_bitrate"), member(start, "target_bitrate"),
                           member(test, "fqrate"), member(start, "fq_rate")})
    if (one > 0) limit = limit > 0 ? std::min(limit, one) : one;
  return limit;
}

IperfLog test_of(const Json& log, const std::string& file, int line) {
  if (log.contains("error") && log["error"].is_string())
    refuse_log(file, line, "iperf3 failed: " + log["error"].get<std::string>(), kAgain);
  const Json& start = part(log, "start");
  const Json& test = part(start, "test_start");
  if (test.value("protocol", Json()) == "UDP")
    refuse_log(file, line, "it is a UDP test: its rate is what was asked for", kAgain);
  const Json& end = part(log, "end");
  const Json& sent = part(end, "sum_sent");
  const Json& received = part(end, "sum_received");
  const Json& best = member(received, "bits_per_second") > 0 ? received : sent;
  IperfLog read{member(best, "bits_per_second") / 8, member(best, "seconds"), std::nullopt,
                least_round_trip(end), line};
  if (sent.contains("retransmits")) read.retransmits = member(sent, "retransmits");
  if (read.bytes_per_s <= 0 || read.seconds <= 0)
    refuse_log(file, line, "its \"end\" has no rate: the test was cut off or moved nothing",
               kAgain);
  refuse_limited(read.bytes_per_s, limit_of(start), std::max(1.0, member(test, "num_streams")),
                 file, line);
  return read;
}

/// Documents of --json, and the events of --json-stream put together as such.
class IperfTests {
 public:
  explicit IperfTests(const std::string& file) : file_(file) {}

  void take(const JsonDocument& document) {
    const auto event = document.value.find("event");
    if (event == document.value.end()) return take_whole(document);
    const Json data = document.value.value("data", Json());
    if (!event->is_string()) return;
    if (*event == "start" || line_ == 0) begin(document.line);
    stream_[event->get<std::string>()] = data;
    if (*event == "end") end();
  }

  std::vector<IperfLog> finish() {
    if (line_ > 0) end();  // it was cut off, and is refused
    return std::move(tests_);
  }

 private:
  void begin(int line) {
    if (line_ > 0) end();
    line_ = line;
    stream_ = Json::object();
  }

  void end() {
    tests_.push_back(test_of(stream_, file_, line_));
    last_end_ = part(stream_, "end");
    line_ = 0;
  }

  /// With --json-stream-full-output the whole follows its events.
  void take_whole(const JsonDocument& document) {
    if (!last_end_.empty() && part(document.value, "end") == last_end_) return;
    tests_.push_back(test_of(document.value, file_, document.line));
  }

  const std::string& file_;
  Json stream_, last_end_;
  int line_ = 0;  ///< where the events of a test begin; 0 = between tests
  std::vector<IperfLog> tests_;
};

}  // namespace

void refuse_limited(double arrived, double limit, double streams, const std::string& file,
                    int line) {
  if (limit <= 0 || 8 * arrived < kLimited * limit * streams) return;
  refuse_log(file, line,
             "-b or --fq-rate limited it to " + format_rate(BitsPerSecond(limit * streams)) +
                 ", and that is what arrived: it shows no line rate",
             "measure again without -b and --fq-rate");
}

IperfLogs read_iperf_json(std::string_view text, const std::string& file) {
  const JsonDocuments found = read_json_documents(text, file);
  IperfTests tests(file);
  for (const JsonDocument& document : found.documents) tests.take(document);
  IperfLogs logs{tests.finish(), found.unread};
  if (logs.tests.empty()) refuse_log(file, 0, "it has no test", kAgain);
  if (logs.tests.size() == 1) logs.tests.front().line = 0;
  return logs;
}

}  // namespace gradwire::results
