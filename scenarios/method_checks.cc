#include "scenarios/method_checks.h"

#include <algorithm>
#include <filesystem>

#include "scenarios/methods.h"
#include "scenarios/share.h"

namespace gradwire::scenarios {
namespace {

bool loses_nothing(const compressors::CodecPlan& plan) {
  return plan.codec.name == "none" && !plan.momentum_correction &&
         std::all_of(plan.rules.begin(), plan.rules.end(),
                     [](const auto& rule) { return rule.codec.name == "none"; });
}

void check_momentum(const Rules& rules, const compressors::CodecPlan& plan) {
  const std::string at = "/method/momentum_correction";
  if (!plan.error_feedback)
    rules.refuse("/method/error_feedback",
                 "momentum correction keeps what was not sent, which is error feedback", "true");
  if (!rules.sound({"/workload/optimizer"})) return;
  const Workload& workload = rules.scenario.workload;
  if (workload.kind == WorkloadKind::kTraining && workload.optimizer != "sgd")
    rules.refuse(at, "workers apply the momentum of sgd, not of " + workload.optimizer,
                 "/workload/optimizer/name sgd");
  if (workload.momentum > 0 && plan.momentum_correction->momentum != workload.momentum)
    rules.refuse(at + "/momentum",
                 "differs from the optimiser's momentum, in whose place the workers apply it",
                 "the same as /workload/optimizer/momentum, or leave either out");
}

}  // namespace

void check_data(const Rules& rules) {
  const Workload& workload = rules.scenario.workload;
  if (!rules.sound({"/workload/model", "/workload/data"})) return;
  if ((workload.model == "char-lstm") != (workload.data_set == "text"))
    rules.refuse("/workload/data/set",
                 "model " + workload.model + " cannot learn from data set " + workload.data_set,
                 workload.model == "char-lstm" ? "text" : "digits, mnist, cifar10");
  if (workload.data_path.empty()) {
    if (workload.data_set != "digits")
      rules.refuse("/workload/data/path", "data set " + workload.data_set + " is not built in",
                   "the path of its files");
    return;
  }
  const std::string path = relative_to_file(workload.data_path, rules.scenario.file);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    rules.refuse("/workload/data/path", "there is no file or folder " + path);
}

void check_method(const Rules& rules) {
  const Method& method = rules.scenario.method;
  if (!rules.sound({"/method"})) return;
  const compressors::CodecPlan plan = codec_plan(method);
  if (plan.error_feedback && loses_nothing(plan))
    rules.refuse("/method/error_feedback",
                 "nothing is lost with method none, so nothing is fed back", "false");
  if (plan.momentum_correction) check_momentum(rules, plan);
  try {
    const compressors::CodecPtr codec = make_method_codec(method);
    if (!rules.sound({"/exchange/collective"})) return;
    if (const std::string note = policy_note(rules.scenario); !note.empty())
      rules.warn("/method", note);
    const std::string conflict =
        exchange_conflict(codec->policy(), rules.scenario.exchange.collective);
    if (!conflict.empty()) rules.refuse("/exchange/collective", plan.codec.name + ": " + conflict);
  } catch (const Error& error) {  // options that do not go together
    rules.refuse("/method", error.what());
  }
}

}  // namespace gradwire::scenarios
