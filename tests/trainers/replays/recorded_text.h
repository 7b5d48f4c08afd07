#pragma once
#include <string>
#include <vector>

/// Recordings as texts, for tests.
namespace gradwire::testing {

class RecordedText {
 public:
  explicit RecordedText(int world) {
    text_ = R"({"e":"recording","version":1,"world":)" + std::to_string(world) +
            R"(,"torch":"2.11.0","clock":"none"})" + "\n";
    calls_.resize(static_cast<std::size_t>(world));
    std::string all;
    for (int rank = 0; rank < world; ++rank) all += (rank ? "," : "") + std::to_string(rank);
    for (int rank = 0; rank < world; ++rank) add_group(rank, "0", all);
  }

  void add_group(int rank, const std::string& name, const std::string& ranks) {
    add("group", rank, ",\"g\":\"" + name + "\",\"ranks\":[" + ranks + "]");
  }
  /// `rest`: further members, such as ",\"k\":\"barrier\"". Gives the call's number.
  int call(int rank, double seconds, const std::string& rest, const std::string& group = "0") {
    const int number = ++calls_[static_cast<std::size_t>(rank)];
    add("call", rank,
        ",\"s\":" + std::to_string(seconds) + ",\"c\":" + std::to_string(number) + ",\"g\":\"" +
            group + "\"" + rest);
    return number;
  }
  void wait(int rank, double seconds, int call) {
    add("wait", rank,
        ",\"s\":" + std::to_string(seconds) + ",\"c\":[" + std::to_string(call) + "]");
  }
  void step(int rank, double seconds = 0) {
    add("step", rank, ",\"s\":" + std::to_string(seconds));
  }
  void end(int rank) { add("end", rank, ""); }

  const std::string& text() const { return text_; }

 private:
  void add(const std::string& event, int rank, const std::string& rest) {
    text_ += "{\"e\":\"" + event + "\",\"r\":" + std::to_string(rank) + rest + "}\n";
  }

  std::string text_;
  std::vector<int> calls_;
};

/// Members of a call of float32.
inline std::string members(const std::string& kind, int elements, const std::string& more = "") {
  return ",\"k\":\"" + kind + "\",\"n\":" + std::to_string(elements) +
         ",\"w\":4,\"t\":\"float32\"" + more;
}

}  // namespace gradwire::testing
