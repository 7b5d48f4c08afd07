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
  return std::to_string(n) + (n == 1 ? " worker" : " workers");
}

std::string rate_words(const Scalability& all, double value) {
  return all.throughput_text(value) + " " + all.throughput_unit();
}

std::string how_known(const Scalability& all, std::size_t series, int workers) {
  const auto answer = all.answer(series, workers);
  if (answer->known) return answer->provenance;
  return all.within_runs(series, workers) ? "predicted" : "predicted, extrapolated";
}

std::string largest_part(const Scalability& all, int workers) {
  const auto answer = all.answer(all.best, workers);
  if (!answer) return "";
  double exposed_s = 0, codec_s = 0, wait_s = 0;
  if (answer->known) {
    const KnownSplit& split =
        std::ranges::find(all.data.series[all.best].points, workers, &ScalePoint::workers)->split;
    const double rest = answer->seconds - split.compute_s - split.exposed_s;
    exposed_s = split.exposed_s;
    codec_s = std::clamp(rest, 0.0, split.codec_s);  // what of it does not run beside compute
    wait_s = rest - codec_s;
  } else {
    const CurvePoint point = all.predicted(all.best, workers);
    exposed_s = point.prediction.time.exposed_s;
    codec_s = point.prediction.time.encode_s + point.prediction.time.decode_s;
    wait_s = point.wait_s;
  }
  const std::pair<double, const char*> parts[] = {{exposed_s, "exposed communication"},
                                                  {codec_s, "encoding and decoding"},
                                                  {wait_s, "waiting for other workers"}};
  const auto most = *std::ranges::max_element(parts);
  const std::string how = " (" + how_known(all, all.best, workers) + ")";
  if (most.first <= 0) return "compute hides all of its communication" + how;
  return percent(most.first / answer->seconds) + " of a step is " + most.second + how;
}

std::optional<Peak> peak_of(const Scalability& all) {
  if (all.data.series[all.best].samples <= 0) return std::nullopt;
  Peak peak;
  const auto at = all.answer(all.best, all.options.at);
  if (!at) return std::nullopt;
  const double now = all.throughput(all.best, all.options.at, at->seconds);
  for (const int n : shown_workers(all, all.best)) {
    if (n > all.options.at) break;
    const double value = all.throughput(all.best, n, all.answer(all.best, n)->seconds);
    if (value > peak.throughput) peak = {n, value};
  }
  const double alone_s = all.model(all.best) ? all.predicted(all.best, all.options.at).alone_s : 0;
  const double lone = alone_s > 0 ? all.throughput(all.best, 1, alone_s) : 0;
  if (lone > peak.throughput * (1 + kTie)) peak = {1, lone};
  if (peak.workers >= all.options.at || now * (1 + kTie) > peak.throughput) return std::nullopt;
  return peak;
}

std::string peak_words(const Scalability& all, const Peak& peak) {
  const auto answer = all.answer(all.best, peak.workers);
  const bool lone = peak.workers == 1 && !(answer && answer->known);
  return "up to " + workers_words(all.options.at) + ", throughput is highest on " +
         std::to_string(peak.workers) + " (" + rate_words(all, peak.throughput) + "; " +
         (lone ? "by its compute time, with nobody to wait for"
               : how_known(all, all.best, peak.workers)) +
         ")";
}

std::string compress_words(const Scalability& all, const std::optional<Peak>& peak) {
  std::string text = send_words(all);
  if (text.empty() || !peak) return text;
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return "if it must be " + workers_words(all.options.at) + ", " + text;
}

}  // namespace gradwire::results
