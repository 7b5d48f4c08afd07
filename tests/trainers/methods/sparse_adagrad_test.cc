#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/trainers/support.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

/// QCMD and QRDA Adagrad on sparse logistic regression: how low the objective gets, with how many
/// weights.
namespace gradwire::trainers {
namespace {

constexpr double kPenalty = 4e-3;

struct Found {
  double objective = 0;
  double share = 0;  ///< of weights that are not zero
};

/// Mean loss over all training samples plus the penalty, in double.
Found judged(const DataSet& data, std::span<const float> weights) {
  Batch all;
  gather(data, data.train, all);
  double loss = 0, sum = 0, kept = 0;
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    double score = 0;
    for (std::size_t f = 0; f < weights.size(); ++f)
      score +=
          static_cast<double>(all.inputs[i * weights.size() + f]) * static_cast<double>(weights[f]);
    const double margin = all.targets[i] == 1 ? score : -score;
    loss += std::log1p(std::exp(-std::fabs(margin))) + std::max(-margin, 0.0);
  }
  for (const float weight : weights) {
    sum += std::fabs(static_cast<double>(weight));
    kept += weight != 0;
  }
  return {loss / static_cast<double>(data.train.size()) + kPenalty * sum,
          kept / static_cast<double>(weights.size())};
}

Found trained(const std::string& method, const std::string& quantiser, std::uint64_t seed) {
  scenarios::Scenario scenario = digits_scenario("logistic", method);
  scenario.workload.data_set = "sparse-logit";
  scenario.workload.bias = false;
  scenario.workload.steps = 1500;
  scenario.workload.momentum = 0;
  scenario.workload.learning_rate = 0.1;
  scenario.workload.optimizer = method == "qcmd" ? "adagrad-cmd" : "adagrad-rda";
  scenario.workload.optimizer_options = {{"l1", "0.004"}};
  scenario.method.options = {{"quantiser", quantiser}};
  scenario.cluster.device = "reference-cpu";
  scenario.exchange.collective = "parameter-server";
  scenario.seed = seed;
  const auto trainer = make_trainer(scenario, {});
  trainer->prepare();
  scenarios::StepPlan plan;
  while (trainer->next(plan)) {
  }
  const DataSet data =
      load_data_set({.set = "sparse-logit", .path = "", .options = {}, .run_seed = seed});
  return judged(data, static_cast<SynchronousTrainer&>(*trainer).weights());
}

}  // namespace

TEST_CASE("ternary gradients reach the objective of fp32 with a sparse model") {
  for (const char* method : {"qrda", "qcmd"}) {
    const Found whole = trained(method, "none", 1), threshold = trained(method, "threshold", 1),
                stochastic = trained(method, "stochastic", 1);
    INFO(method << ": objective and share of weights, fp32 " << whole.objective << " "
                << whole.share << ", threshold " << threshold.objective << " " << threshold.share
                << ", stochastic " << stochastic.objective << " " << stochastic.share);
    CHECK(whole.objective < 0.69);  // log 2 with no weights at all is 0.693
    CHECK(threshold.objective < 1.02 * whole.objective);
    CHECK(threshold.share <= stochastic.share);
    if (method == std::string("qrda"))
      CHECK(threshold.share <= 0.1);
    else
      CHECK(threshold.share > 0.3);  // the negative control: mirror descent leaves most weights
  }
}

}  // namespace gradwire::trainers
