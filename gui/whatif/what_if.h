#pragma once
#include <QString>
#include <QStringList>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "gui/whatif/knobs.h"
#include "results/advice/cost.h"
#include "results/advice/crossover.h"
#include "results/advice/ranking.h"
#include "scenarios/scenario.h"

/// "What if the link were slower?": the closed form over a scenario with a few fields changed. All
/// arithmetic is that of `gradwire advise` and `gradwire predict`; nothing here computes a time.
namespace gradwire::gui {

/// What is asked about, read once when a run or a scenario is chosen.
struct WhatIfBase {
  QString name;               ///< "Run 12: topk 1%, 4 workers", "Scenario lan"
  bool of_run = false;        ///< else of a scenario that need not have run
  std::string scenario_json;  ///< of one run
  std::string scenario_file;  ///< what its paths are seen from
  /// Of training, which a scenario alone does not know: what the run stored, and what runs of the
  /// same training with other methods did.
  struct Peer {
    std::string method;  ///< label
    std::string method_json;
    results::StepSummary step;
  };
  std::optional<results::StepSummary> stored;
  std::vector<Peer> peers;
  std::optional<double> compression_ratio;  ///< of the run: encoded bytes over fp32's
  std::string method;                       ///< label
  results::AccuracyKnowledge knowledge;
};
using WhatIfBasePtr = std::shared_ptr<const WhatIfBase>;

/// By knob: the text of its field, as a scenario writes it; absent = as in the base.
using Changes = std::map<Knob, QString>;

/// The base's own values; absent where its scenario has no such field. A price that it does not say
/// is none.
std::array<std::optional<double>, kKnobs> knob_values(const WhatIfBase& base);

/// Costs are of so many steps: one alone costs next to nothing.
inline constexpr double kCostedSteps = 1000;

struct WhatIfCost {
  double gpu_hours = 0;  ///< workers times time
  double bytes = 0;      ///< that all workers send, without transport headers
  double money = 0;      ///< by the scenario's prices; 0 = it has none
};

struct WhatIfAnswer {
  QString problem;  ///< why there is no answer; else empty
  /// The method's fastest way, and the step without compression.
  std::optional<results::RankedCandidate> with, dense;
  std::optional<results::Advice> advice;
  std::optional<results::Crossover> crossover;  ///< the link rate at which the method stops to pay
  std::optional<WhatIfCost> cost, dense_cost;   ///< of `with` and `dense`
  std::string currency;
  double alone_s = 0;   ///< one worker's step that sends nothing
  QStringList remarks;  ///< what was taken in proportion, what was left out
  double seconds = 0;   ///< that the answer took
};

/// Answers questions about one base. Keeps the candidates while only the network changes.
class WhatIf {
 public:
  explicit WhatIf(WhatIfBasePtr base) : base_(std::move(base)) {}
  WhatIfAnswer answer(const Changes& changes);

 private:
  void find_candidates(const scenarios::Scenario& scenario, const Changes& changes);
  void from_table(const scenarios::Scenario& scenario);
  void from_run(const scenarios::Scenario& scenario, const Changes& changes);

  WhatIfBasePtr base_;
  std::string key_;  ///< of what candidates_ are for
  std::vector<results::Candidate> candidates_;
  QStringList remarks_;
};

/// The base's scenario with the changes, as a file that can be run; throws ScenarioError.
QString changed_scenario(const WhatIfBase& base, const Changes& changes);

}  // namespace gradwire::gui
