#include "results/runs/place.h"

#include <cstdio>

namespace gradwire::results {
namespace {

/// No digits that say nothing: "1.2s" of 1.200000000.
std::string seconds_text(double seconds) {
  char digits[400];
  std::snprintf(digits, sizeof digits, "%.9f", seconds);
  std::string text = digits;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + "s";
}

}  // namespace

std::string place_of(RunId run) {
  return "run:" + std::to_string(run);
}

std::string place_of(RunId run, double start_s, double end_s) {
  return place_of(run) + "@" + seconds_text(start_s) + ".." + seconds_text(end_s);
}

std::string host_name(std::int32_t host, std::int32_t workers) {
  if (host < 0) return "all workers";
  if (workers > 0 && host >= workers) return "server " + std::to_string(host - workers);
  return "worker " + std::to_string(host);
}

}  // namespace gradwire::results
