#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <set>

#include "results/advice/choice.h"
#include "results/figures/plot_geometry.h"
#include "results/statistics/percent.h"

/// A choice in words.
namespace gradwire::results {
namespace {

std::string times(double factor) {
  char text[32];
  std::snprintf(text, sizeof text, factor < 10 ? "%.2f" : "%.0f", factor);
  return text;
}

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// One choice among its options.
class Words {
 public:
  Words(const Choice& choice, std::span<const Option> options, const std::string& where)
      : choice_(choice), options_(options), where_(where) {}

  std::string action() const {
    if (!choice_.chosen)
      return "Take none of these methods" + where_ + ": each loses too much accuracy.";
    if (choice_.verdict == Verdict::kDoNotCompress)
      return "Do not compress" + where_ + ": no method that may be recommended is more than 3 % " +
             "faster than " + chosen().name + ", " + step(chosen()) + best_compressed() + ".";
    const std::string gain = gain_words();
    if (choice_.verdict == Verdict::kHalves)
      return "Send " + chosen().name + " and compress no further" + where_ + ": " + gain +
             best_compressed() + ".";
    if (choice_.fp32 || choice_.fp16)
      return "Compress with " + chosen().name + where_ + ": " + gain + ".";
    return "Take " + chosen().name + where_ + ", the fastest of those compared: " + gain +
           "; fp32 and fp16 were not among them, so nothing is said about compressing at all.";
  }

  /// " Accuracy unknown here; published: ..."
  std::string accuracy() const {
    if (!choice_.chosen || chosen().baseline == Baseline::kFp32) return "";
    const AccuracyEvidence& evidence = chosen().accuracy;
    if (evidence.words.empty()) return "";
    return " " + capital(evidence.words) + ".";
  }

  /// The last words, without a full stop: the command can be copied.
  std::string way_to_find_out() const {
    if (!choice_.chosen || chosen().accuracy.words.empty() ||
        chosen().accuracy.standing == Standing::kKeeps)
      return "";
    return std::string(kToFindOut) + accuracy_command(chosen().method_json);
  }

  /// Compressed ways alone: fp32 and fp16 win every tie.
  std::string ties() const {
    if (choice_.verdict != Verdict::kCompress) return "";
    std::set<std::string> seen = {method_of(chosen())};
    std::string list;
    for (const std::size_t i : choice_.ties)
      if (const std::string method = method_of(options_[i]); seen.insert(method).second)
        list += (list.empty() ? "" : ", ") + method;
    return list.empty() ? "" : " No difference in time: " + list + ".";
  }

  std::string refused(double tolerance) const {
    if (!choice_.refused) return "";
    const Option& option = options_[*choice_.refused];
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", 100 * tolerance);
    return " Not recommended, beyond the tolerance of " + std::string(text) +
           (tolerance == 0.01 ? " point: " : " points: ") + option.name + ", " + step(option) +
           "; " + option.accuracy.words + ".";
  }

 private:
  const Option& chosen() const { return options_[*choice_.chosen]; }

  static std::string step(const Option& option) {
    return format_value(option.seconds, Quantity::kSeconds) + " a step";
  }

  /// "a step takes 12 ms instead of 97 ms, 8.1 times as fast as fp32, 4.2 times as fast as fp16"
  std::string gain_words() const {
    std::string text = "a step takes " + format_value(chosen().seconds, Quantity::kSeconds);
    if (choice_.fp32)
      text += " instead of " + format_value(options_[*choice_.fp32].seconds, Quantity::kSeconds);
    const auto than = [&](std::optional<std::size_t> other, const char* what) {
      if (other && *other != *choice_.chosen)
        text +=
            ", " + times(options_[*other].seconds / chosen().seconds) + " times as fast as " + what;
    };
    than(choice_.fp32, "fp32");
    than(choice_.fp16, "fp16");
    return text;
  }

  /// "; the best compressed step, terngrad by ring, takes 2 % less": for those who hoped.
  std::string best_compressed() const {
    if (!choice_.compressed) return "";
    const Option& best = options_[*choice_.compressed];
    const double less = 1 - best.seconds / chosen().seconds;
    const std::string amount = std::abs(less) < 0.005 ? "as long"
                                                      : percent_by("%.0f", std::abs(less)) +
                                                            (less > 0 ? " less" : " more");
    return "; the best compressed step, " + best.name + ", takes " + amount;
  }

  /// The name without collective and buckets.
  static std::string method_of(const Option& option) {
    return option.name.substr(0, option.name.find(" by "));
  }

  const Choice& choice_;
  std::span<const Option> options_;
  const std::string& where_;
};

}  // namespace

std::string recommendation(const Choice& choice, std::span<const Option> options,
                           const std::string& where, double tolerance) {
  const Words words(choice, options, where);
  return words.action() + words.accuracy() + words.ties() + words.refused(tolerance) +
         words.way_to_find_out();
}

}  // namespace gradwire::results
