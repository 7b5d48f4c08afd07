#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/options.h"
#include "trainers/updates/update_rule.h"

/// The update rules by name. A row is all that the rest of the program knows of a rule: scenarios
/// take its options from here, and their checks and pages too.
namespace gradwire::trainers {

struct UpdateInfo {
  std::string name;
  std::string summary;  ///< one sentence
  std::string source;   ///< paper and place
  OptionTable options;
  std::unique_ptr<UpdateRule> (*make)(const OptionValues& options);
  /// Learning rates above 2 are usual, since the rule multiplies them by a small ratio.
  bool large_rates = false;
  /// What it adds to weights is a sum of gradients, so that workers can apply its momentum to what
  /// they send, or take steps of their own.
  bool sums_gradients = false;
  /// Weights are 0 before the first step, whatever the model says.
  bool starts_at_zero = false;
  /// Takes norms of whole tensors, so that it cannot be given a part of one.
  bool whole_tensors = false;
  /// Is of workers that gossip alone.
  bool of_gossip = false;
};

const std::vector<UpdateInfo>& update_catalogue();
/// Null where there is none of this name.
const UpdateInfo* find_update(std::string_view name);

struct UpdateSettings {
  std::string name = "sgd";
  std::map<std::string, std::string> options = {};  ///< texts; those absent are at their default
};

/// Throws TrainerError for an unknown name, Error(kUsage) for options that the rule does not take.
std::unique_ptr<UpdateRule> make_update_rule(const UpdateSettings& settings);

// Rows, each in its rule's file.
UpdateInfo sgd_row();
UpdateInfo adam_row();
UpdateInfo amsgrad_row();
UpdateInfo adamax_row();
UpdateInfo shift_adamax_row();
UpdateInfo lars_row();
UpdateInfo lamb_row();
UpdateInfo adagrad_cmd_row();
UpdateInfo adagrad_rda_row();
UpdateInfo quasi_global_row();

// Options that several rows have.
OptionSpec momentum_option(const char* default_text);
/// L2: the term is added to the gradient.
OptionSpec l2_option();
OptionSpec beta1_option();
OptionSpec beta2_option();
OptionSpec epsilon_option(const char* default_text);
/// The tensors that layer-wise rules leave out.
OptionSpec exclude_option();
enum class Exclude { kVectors, kNone, kAll };
Exclude exclude_of(const OptionValues& options);
inline bool excludes(Exclude exclude, const TensorSlot& tensor) {
  return exclude == Exclude::kAll || (exclude == Exclude::kVectors && tensor.shape.size() < 2);
}

}  // namespace gradwire::trainers
