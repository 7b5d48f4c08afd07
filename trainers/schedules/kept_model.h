#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "trainers/schedules/learner.h"

/// A learner's model as a file's bytes (compressors/model_file.h), and back.
namespace gradwire::trainers {

/// What a file held, in the layout's order.
struct KeptModel {
  std::vector<float> weights;
  std::vector<float> statistics;
};

/// Of `weights`, in the layout's order, and the learner's statistics; each tensor as the method
/// says. Throws Error where a value is not finite.
std::vector<std::byte> keep_model(const Learner& learner, std::span<const float> weights);

/// Throws Error naming `subject` for what is damaged, or of another model than the learner's.
KeptModel read_kept(const Learner& learner, std::span<const std::byte> file,
                    std::string_view subject);

/// The same, and how its model scores on the learner's held-out samples.
scenarios::Evaluation evaluate_kept(Learner& learner, std::span<const std::byte> file,
                                    std::string_view subject);

}  // namespace gradwire::trainers
