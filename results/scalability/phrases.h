#pragma once
#include <optional>
#include <string>

#include "results/scalability/scalability.h"

/// Parts of sentences that the scalability report's texts share; not an interface.
namespace gradwire::results {

std::string capital(std::string text);
/// "16 workers"
std::string workers_words(int n);
/// "640 samples/s"
std::string rate_words(const Scalability& all, double value);
/// "simulated", or "predicted, extrapolated".
std::string how_known(const Scalability& all, std::size_t series, int workers);
/// "62 % of a step is exposed communication (simulated)": the part of the best series' step that is
/// largest beside compute, by the runs' own steps where there are runs. Empty without an answer.
std::string largest_part(const Scalability& all, int workers);

/// Fewer workers than options.at, on which the best series' throughput is highest; a lone one, too.
struct Peak {
  int workers = 0;
  double throughput = 0;
};
/// Empty where more workers do more.
std::optional<Peak> peak_of(const Scalability& all);
/// "up to 16 workers, throughput is highest on 2 (640 samples/s; simulated)"
std::string peak_words(const Scalability& all, const Peak& peak);

/// What to send on options.at workers, by the rule and in the words of `advise`; where fewer
/// workers would do more, for those who need so many all the same. Empty where nothing competes.
std::string compress_words(const Scalability& all, const std::optional<Peak>& peak);

}  // namespace gradwire::results
