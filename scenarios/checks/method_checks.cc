#include "scenarios/checks/method_checks.h"

#include <algorithm>
#include <filesystem>

#include "scenarios/data_sets.h"
#include "scenarios/methods.h"
#include "scenarios/share.h"
#include "trainers/methods/catalogue.h"
#include "trainers/updates/catalogue.h"

namespace gradwire::scenarios {
namespace {

bool loses_nothing(const compressors::CodecPlan& plan) {
  return compressors::is_plain_codec(plan.codec.name) && !plan.momentum_correction &&
         std::all_of(plan.rules.begin(), plan.rules.end(),
                     [](const auto& rule) { return compressors::is_plain_codec(rule.codec.name); });
}

/// Workers apply the momentum in the optimiser's place: theirs is named below `at`.
void check_momentum(const Rules& rules, const compressors::CodecPlan& plan, const std::string& at) {
  if (!plan.error_feedback)
    rules.refuse("/method/error_feedback",
                 "momentum correction keeps what was not sent, which is error feedback", "true");
  if (!rules.sound({"/workload/optimizer"})) return;
  const Workload& workload = rules.scenario.workload;
  const trainers::UpdateInfo* update = trainers::find_update(workload.optimizer);
  if (workload.kind == WorkloadKind::kTraining && update && !update->sums_gradients)
    rules.refuse(at, "workers apply the momentum of sgd, not of " + workload.optimizer,
                 "/workload/optimizer/name sgd");
  const bool compressed = rules.scenario.method.name == "compressed";
  if ((workload.momentum > 0 || !compressed) && workload.kind == WorkloadKind::kTraining &&
      plan.momentum_correction->momentum != workload.momentum)
    rules.refuse(at + "/momentum",
                 "differs from the optimiser's momentum, in whose place the workers apply it",
                 "the same as /workload/optimizer/momentum, or leave either out");
}

void check_exists(const Rules& rules, const std::string& pointer, const std::string& path) {
  const std::string seen = relative_to_file(path, rules.scenario.file);
  std::error_code ignored;
  if (!std::filesystem::exists(seen, ignored))
    rules.refuse(pointer, "there is no file or folder " + seen);
}

void check_files(const Rules& rules, const DataSetInfo& set) {
  const Workload& workload = rules.scenario.workload;
  if (workload.data_path.empty()) {
    if (set.files == DataFiles::kRequired)
      rules.refuse("/workload/data/path", "data set " + set.name + " is not built in",
                   "the path of its files");
    return;
  }
  if (set.files == DataFiles::kNone) {
    rules.refuse("/workload/data/path", "data set " + set.name + " has no files", "none");
    return;
  }
  check_exists(rules, "/workload/data/path", workload.data_path);
  const auto given = [&](const char* option) {
    const auto found = workload.data_options.find(option);
    return found != workload.data_options.end() && !found->second.empty();
  };
  for (const auto& [option, value] : workload.data_options)
    if (is_path_option(option) && !value.empty())
      check_exists(rules, "/workload/data/" + option, value);
  const auto needs = [&](const char* option, const char* for_what) {
    const bool has = std::any_of(set.options.begin(), set.options.end(),
                                 [&](const OptionSpec& each) { return each.name == option; });
    if (has && !given(option))
      rules.refuse(std::string("/workload/data/") + option, "is missing",
                   std::string("the file with the labels of ") + for_what);
  };
  needs("labels", "path");
  if (given("held_out_path")) needs("held_out_labels", "held_out_path");
}

}  // namespace

namespace {

void check_checkpoints(const Rules& rules, const ModelInfo& model) {
  const Workload& workload = rules.scenario.workload;
  const char* const at = "/workload/checkpoint_activations";
  const int segments = workload.checkpoint_activations;
  if (segments == 0 || !rules.sound({at, "/workload/hidden"})) return;
  const int stages = stages_of(model, workload.hidden);
  if (segments > stages)
    rules.refuse(at, model.name + " has " + std::to_string(stages) + " parts, no more segments",
                 "2 to " + std::to_string(stages));
  else if (segments == 1)
    rules.warn(at, "a single segment keeps as much as none, and computes all of it twice");
}

}  // namespace

void check_data(const Rules& rules) {
  const Workload& workload = rules.scenario.workload;
  if (!rules.sound({"/workload/model", "/workload/data"})) return;
  const ModelInfo& model = *find_model(workload.model);
  const DataSetInfo& set = *find_data_set(workload.data_set);
  if (!takes(model, set)) {
    std::string allowed;
    for (const DataSetInfo& other : data_set_catalogue())
      if (takes(model, other)) allowed += (allowed.empty() ? "" : ", ") + other.name;
    rules.refuse("/workload/data/set",
                 "model " + workload.model + " cannot learn from data set " + workload.data_set,
                 allowed);
  }
  if (workload.model == "char-lstm" && workload.hidden && workload.hidden->size() != 1 &&
      rules.sound({"/workload/hidden"}))
    rules.refuse("/workload/hidden", "char-lstm has one hidden layer", "a list of one width");
  if (workload.model == "transformer" && workload.embedding.value_or(128) % workload.heads != 0 &&
      rules.sound({"/workload/embedding", "/workload/heads"}))
    rules.refuse(
        "/workload/heads",
        "cannot have equal parts of a width of " + std::to_string(workload.embedding.value_or(128)),
        "a divisor of /workload/embedding");
  if (workload.model == "transformer" && workload.hidden && workload.hidden->empty() &&
      rules.sound({"/workload/hidden"}))
    rules.refuse("/workload/hidden", "a transformer has a block or more", "a width for each block");
  if (workload.model != "torchscript" && (workload.loss == "nll" || workload.loss == "mse") &&
      rules.sound({"/workload/loss"}))
    rules.refuse("/workload/loss", "is of models from a file of torch.jit alone",
                 "cross-entropy, squared-hinge");
  if (workload.model == "torchscript" && rules.sound({"/workload/model_file"})) {
    if (workload.model_file.empty())
      rules.refuse("/workload/model_file", "is missing", "the path of a file that torch.jit saved");
    else
      check_exists(rules, "/workload/model_file", workload.model_file);
  }
  if (workload.model == "resnet20" && workload.normalisation != "batch" &&
      workload.normalisation != "range-evonorm" &&
      rules.scenario.json["workload"].contains("normalisation"))
    rules.refuse("/workload/normalisation", "resnet20 does not learn without one",
                 "batch, range-evonorm");
  check_checkpoints(rules, model);
  check_files(rules, set);
  const std::string& kind = workload.partition.kind;
  if (set.kind == SampleKind::kText && (kind == "classes" || kind == "dirichlet" || kind == "skew"))
    rules.refuse("/workload/data/partition/kind",
                 "samples of text have no class by which " + kind + " could part them",
                 "iid, shards");
}

namespace {

void check_plan(const Rules& rules, const Method& method, const compressors::CodecPlan& plan) {
  const methods::MethodRow* row = methods::find_method(method.name);
  if (!row && plan.error_feedback && loses_nothing(plan))
    rules.refuse("/method/error_feedback",
                 "nothing is lost with method none, so nothing is fed back", "false");
  if (row && !loses_nothing(plan) && plan.error_feedback != method.error_feedback)
    rules.refuse(
        "/method/error_feedback",
        method.name + (plan.error_feedback ? " keeps what was not sent, which is error feedback"
                                           : " feeds nothing back"),
        plan.error_feedback ? "true" : "false");
  const Workload& workload = rules.scenario.workload;
  if (row && !row->optimizer.empty() && rules.sound({"/workload/optimizer"}) &&
      workload.kind == WorkloadKind::kTraining && workload.optimizer != row->optimizer)
    rules.refuse(
        "/workload/optimizer/name",
        method.name + " is a method of " + row->optimizer + ", not of " + workload.optimizer,
        row->optimizer);
  if (row && !row->optimizer.empty() && rules.sound({"/workload/optimizer"}) &&
      !training_method(method, 1)->plan(0, 0).update_momentum && !plan.momentum_correction &&
      workload.momentum > 0)
    rules.refuse("/workload/optimizer/momentum", method.name + " takes steps without momentum",
                 "0");
  if (plan.momentum_correction)
    check_momentum(rules, plan, row ? "/method" : "/method/momentum_correction");
}

/// Of every phase: a warm-up's messages may be of another kind than those after it.
void check_collective(const Rules& rules, const Method& method) {
  const std::string& collective = rules.scenario.exchange.collective;
  const auto phases = training_method(rules.scenario);
  for (std::size_t phase = 0; phase < phases->phases(); ++phase) {
    const compressors::CodecPlan plan = phases->plan(0, phase).up;
    const bool dense_phase = loses_nothing(plan) && phases->phases() > 1;
    if (dense_phase && collective == "direct") continue;  // goes round a ring, as dense tensors do
    const std::string conflict =
        exchange_conflict(compressors::make_codec(plan)->policy(), collective);
    if (conflict.empty()) continue;
    const std::string name = method.name == "compressed" ? plan.codec.name : method.name;
    return rules.refuse("/exchange/collective", name + ": " + conflict);
  }
}

}  // namespace

void check_method(const Rules& rules) {
  const Method& method = rules.scenario.method;
  if (!rules.sound({"/method"})) return;
  try {
    const compressors::CodecPlan plan = codec_plan(method);
    check_plan(rules, method, plan);
    compressors::make_codec(plan);  // throws where its options do not go together
    if (!rules.sound({"/exchange/collective"})) return;
    if (const std::string note = policy_note(rules.scenario); !note.empty())
      rules.warn("/method", note);
    check_collective(rules, method);
  } catch (const Error& error) {  // options that do not go together
    rules.refuse("/method", error.what());
  }
}

}  // namespace gradwire::scenarios
