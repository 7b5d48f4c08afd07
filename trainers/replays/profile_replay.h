#pragma once
#include <memory>

#include "scenarios/trainer.h"

/// Synchronous data parallelism of a model that is only a table of layers
/// (scenarios/profiles/profile.h): the step graph that training would make, without gradients.
///
///   forward = sum_l f_l(B),  backward of bucket b = sum_{l in b} r_l(B)     B = batch of a worker
///
/// with a layer's own times or those that scenarios/profiles/layer_times.h computes from its
/// counts. Where the table names a layer's tensors, codecs select, scale and frame tensor by
/// tensor, as when the model is trained; else a layer is one tensor without a shape. Bytes follow
/// from the codec's size for n elements (Exchange::charge); where it depends on values, from what
/// it writes for drawn ones (trainers/replays/drawn_sizes.h). Codec times come from the device
/// profile that cluster.device names; with device cpu they are measured here on a tensor of at most
/// 4 Mi drawn elements and scaled by elements, which leaves out what a larger tensor loses to
/// memory. There is no loss, no accuracy, no learning hash (0). Needs no LibTorch, and no memory by
/// the model's size.
namespace gradwire::trainers {

/// Throws Error for a profile that cannot be read, and for exchanges whose messages depend on which
/// elements workers name (sparse ones through a parameter server); TrainerError for device cuda,
/// where no codec is timed without training.
std::unique_ptr<scenarios::Trainer> make_profile_replay(const scenarios::Scenario& scenario);

}  // namespace gradwire::trainers
