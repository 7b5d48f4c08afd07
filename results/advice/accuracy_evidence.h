#pragma once
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "results/advice/published_accuracy.h"
#include "results/runs/summary.h"
#include "results/store/store.h"

/// What is known of the accuracy that training with a method ends at. A recommendation that rests
/// on times carries it.
namespace gradwire::results {

/// One workload, trained with a method and without compression: the scenarios differ in method,
/// collective and buckets alone.
struct AccuracyComparison {
  std::string method;           ///< the runs' label: "topk 1% +ef"
  std::string model, data_set;  ///< "mlp", "digits"
  int workers = 0;
  Statistic compressed, baseline;  ///< held-out accuracy at the end, a share, over seeds

  double difference() const { return compressed.mean - baseline.mean; }
};

/// Of the finished training runs among `runs`, in the order of their first run. Of several runs of
/// one scenario and seed the latest counts. Executors and networks that only change times make
/// comparisons of their own.
std::vector<AccuracyComparison> accuracy_comparisons(std::span<const RunSummary> runs);

/// From the best to the worst.
enum class Standing {
  kKeeps,    ///< runs of this workload show it to keep its accuracy within the tolerance
  kUnclear,  ///< they cannot tell yet: too few seeds, or too wide a spread
  kUnknown,  ///< nobody trained this workload with it here
  kLoses,    ///< runs, on their mean, or a publication about this model show a loss beyond the
             ///< tolerance
};
std::string_view name_of(Standing standing);  ///< "keeps", "unclear", "unknown", "loses"

/// What a recommendation says of a method's accuracy.
struct AccuracyEvidence {
  Standing standing = Standing::kUnknown;
  std::string words;  ///< begins small, without a full stop
  double difference = std::numeric_limits<double>::quiet_NaN();  ///< a share
  Provenance difference_from = Provenance::kMeasured;  ///< or published; given without compression
  bool may_be_recommended() const { return standing != Standing::kLoses; }
};

/// One point of accuracy.
inline constexpr double kUsualTolerance = 0.01;

/// What evidence is drawn from.
struct AccuracyKnowledge {
  std::vector<AccuracyComparison> trained;
  std::vector<PublishedAccuracy> published;
  double tolerance = kUsualTolerance;  ///< a share: the loss that is accepted
};

/// Of a method with this label and /method (JSON), for the question's model. Without compression
/// (label "none") nothing is lost. A loss in runs of another model counts, since nothing shows that
/// this one fares better; accuracy that another model keeps proves nothing, and is only named.
AccuracyEvidence evidence_of(const AccuracyKnowledge& knowledge, const std::string& label,
                             const std::string& method_json, const std::string& model);

/// The command that trains with and without the method on a small workload, for three seeds.
std::string accuracy_command(const std::string& method_json);

}  // namespace gradwire::results
