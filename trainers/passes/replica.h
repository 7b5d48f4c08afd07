#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "trainers/data/data_set.h"
#include "trainers/layout.h"
#include "trainers/passes/model_choice.h"
#include "trainers/passes/pass_options.h"

/// The border to LibTorch: what the training methods need from a model, without its headers.
namespace gradwire::trainers {

/// One worker's gradients of one pass, owned by the library that computed them: taken over, not
/// copied. tensors()[i] belongs to the layout's tensor i. Device memory where the model keeps its
/// gradients on a device (trainers/device/device_step.h); only a DeviceEncoder reads those.
class Gradients {
 public:
  virtual ~Gradients() = default;
  std::span<const std::span<const float>> tensors() const { return tensors_; }
  /// Whether the processor can read them: they may stay in a device's memory.
  virtual bool on_host() const { return true; }

 protected:
  std::vector<std::span<const float>> tensors_;
};

struct PassTimes {
  Seconds forward{0};
  std::vector<Seconds> ready;  ///< by tensor (layout order): since the backward pass started
  Seconds backward{0};         ///< the whole backward pass
};

/// What lies between the stages of a model that is cut: boundary b is after stage b. Values are
/// those of the batch, samples first (`shape`), and become what the other side has of them.
class StageBoundaries {
 public:
  virtual ~StageBoundaries() = default;
  virtual void activations(std::size_t boundary, std::span<const std::int64_t> shape,
                           std::span<float> values) = 0;
  /// All has passed forwards, and nothing back yet.
  virtual void turn() {}
  /// Of the loss by those activations, on the way back.
  virtual void gradients(std::size_t boundary, std::span<const std::int64_t> shape,
                         std::span<float> values) = 0;
};

struct Score {
  double loss = 0;   ///< sum over predictions
  double right = 0;  ///< predictions that are right
  double count = 0;
};

/// Where a replica's own copy of the weights lies, flat in layout order, and the stream (a
/// cudaStream_t) that its work goes to.
struct DeviceMemory {
  float* weights = nullptr;
  void* stream = nullptr;
};

/// A model that one host thread runs. Weights are views of the trainer's flat buffer, shared by all
/// replicas; gradients are each pass's own. Uses one intra-op thread.
class Replica {
 public:
  virtual ~Replica() = default;
  virtual std::unique_ptr<Gradients> make_gradients() const = 0;
  /// Mean loss of the batch; fills `gradients`. All three throw TrainerError for options that the
  /// model cannot follow.
  virtual double train_pass(const Batch& batch, const PassOptions& options,
                            Gradients& gradients) = 0;
  /// train_pass() of the model cut into stages: stage s has the parts from ends[s - 1] to ends[s]
  /// (Model::part_starts). Where boundaries change nothing, the same loss and gradients bit for
  /// bit. Precondition: the options have no checkpoints; the last end is the number of parts.
  virtual double train_stages(const Batch&, const PassOptions&,
                              std::span<const std::size_t> /*ends*/, StageBoundaries&, Gradients&) {
    GRADWIRE_ASSERT(false);
    return 0;
  }
  /// The same pass with clocks; leaves no trace in weights or statistics.
  virtual PassTimes time_pass(const Batch& batch, const PassOptions& options) = 0;
  virtual Score evaluate(const Batch& batch, const PassOptions& options) = 0;
  /// Bytes that a forward pass over the batch leaves for its backward pass, the loss among them,
  /// without weights and the batch itself; with checkpointing, and what the segment that keeps most
  /// keeps while it is computed again. Absent where nobody counts them. Leaves no trace.
  virtual std::optional<std::int64_t> activation_bytes(const Batch&, const PassOptions&) {
    return {};
  }
  /// The same of each stage of train_stages(): what it received and what it sends are among it.
  /// Empty where nobody counts them.
  virtual std::vector<std::int64_t> stage_activation_bytes(const Batch&, const PassOptions&,
                                                           std::span<const std::size_t> /*ends*/) {
    return {};
  }
  /// Called after the trainer changed the flat weights (a device's copy must follow).
  virtual void weights_changed() {}
  /// Nothing where gradients are handed out in host memory.
  virtual DeviceMemory device_memory() const { return {}; }
};

/// What a kind of model is, and the maker of its replicas.
class Model {
 public:
  virtual ~Model() = default;
  virtual std::span<const Parameter> parameters() const = 0;
  /// Values of running statistics (batch normalisation) and their initial content.
  virtual std::vector<float> initial_statistics() const = 0;
  /// All arguments must outlive the replica.
  virtual std::unique_ptr<Replica> make_replica(const Layout& layout, std::span<float> weights,
                                                std::span<float> statistics) const = 0;
  virtual std::string device_name() const = 0;
  /// Parts that a chain of stages can be made of: the first parameter of each. One for a model that
  /// cannot be cut.
  virtual std::vector<std::size_t> part_starts() const { return {0}; }
};

/// "logistic", "mlp" (numbers or images), "lenet5", "cnn", "resnet20" (images), "char-lstm" (text),
/// on "cpu" or "cuda". Throws TrainerError where model and data do not fit, or (kCapability) where
/// the device is missing. `keep_gradients`: they stay in device memory, else each pass copies them
/// to the host.
std::unique_ptr<Model> make_model(const ModelChoice& choice, const DataSet& data,
                                  const std::string& device, bool keep_gradients = false);

/// The processor's model name, for provenance.
std::string cpu_model_name();

}  // namespace gradwire::trainers
