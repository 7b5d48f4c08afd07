#include "results/scalability/phrases.h"

#include <algorithm>
#include <cctype>

#include "results/scalability/figures.h"

namespace gradwire::results {
namespace {

std::string send_words(const Scalability& all) {
  if (!all.choice || all.data.series.size() < 2) return "";
  return recommendation(*all.choice, all.competing, " on " + workers_words(all.options.at),
                        all.options.knowledge.tolerance);
}

}  // namespace

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string workers_words(int n) {
  return std::to_string(n) + " workers";
}

std::string rate_words(const Scalability& all, double value) {
  return all.throughput_text(value) + " " + all.throughput_unit();
}

std::string how_known(const Scalability& all, std::size_t series, int workers) {
  const auto answer = all.answer(series, workers);
  if (answer->known) return answer->provenance;
  return all.within_runs(series, workers) ? "predicted" : "predicted, extrapolated";
}

std::string largest_part(const StepTime& time) {
  const std::pair<double, const char*> parts[] = {
      {time.exposed_s, "exposed communication"},
      {time.encode_s, "encoding"},
      {time.decode_s, "decoding and adding messages"}};
  const auto* most = std::ranges::max_element(parts, {}, &std::pair<double, const char*>::first);
  return most->first > 0 ? percent(most->first / time.total_s) + " of a step is " + most->second
                         : "compute hides all of its communication";
}

std::optional<Peak> peak_of(const Scalability& all) {
  if (all.data.series[all.best].samples <= 0) return std::nullopt;
  Peak peak;
  double now = 0;
  for (const int n : shown_workers(all, all.best)) {
    if (n > all.options.at) break;
    const double value = all.throughput(all.best, n, all.answer(all.best, n)->seconds);
    if (n == all.options.at) now = value;
    if (value > peak.throughput) peak = {n, value};
  }
  if (peak.workers >= all.options.at || now * (1 + kTie) > peak.throughput) return std::nullopt;
  return peak;
}

std::string peak_words(const Scalability& all, const Peak& peak) {
  return "adding workers lowers throughput, which is highest on " + workers_words(peak.workers) +
         " (" + rate_words(all, peak.throughput) + "; " +
         how_known(all, all.best, peak.workers) + ")";
}

std::string compress_words(const Scalability& all, const std::optional<Peak>& peak) {
  std::string text = send_words(all);
  if (text.empty() || !peak) return text;
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return "if it must be " + workers_words(all.options.at) + ", " + text;
}

}  // namespace gradwire::results
