#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/philox.h"
#include "compressors/codec_plan.h"
#include "trainers/moment.h"
#include "trainers/passes/pass_options.h"

/// A training method as its paper has it: which tensors are treated alike, what workers send of
/// them at each moment, and what the update does then. Data and arithmetic alone: messages are
/// made and moved by trainers/routes/, the order of things in virtual time by trainers/schedules/.
/// docs/adding-a-method.md walks through one.
namespace gradwire::methods {

using trainers::Moment;
using trainers::PassOptions;

/// A tensor of the model, as methods choose by it.
struct TensorInfo {
  std::string_view name;                ///< "fc1.weight"
  std::span<const std::int64_t> shape;  ///< outer dimension first; empty: not known
  bool last_layer = false;              ///< of the layer that gives the answer
};

/// What becomes of the tensors of one set in a step.
struct SetPlan {
  /// What a worker sends of each tensor: a codec with its decorators.
  compressors::CodecPlan up;
  /// Whether the update applies the optimiser's momentum. False where workers have applied it.
  bool update_momentum = true;
  /// Only the elements of the method's mask are sent, without positions, since all know it.
  bool masked = false;
  /// What a parameter server encodes the sum with that it sends back; none: fp32, all of it or what
  /// is not zero. Where workers add up among themselves there is no such way. In federated rounds
  /// what the server encodes so is what it changes of its model (see Method::stored_messages).
  std::optional<compressors::CodecPlan> down = {};
  /// A parameter server makes the update and sends the new weights, all or those that are not zero,
  /// in place of a sum. Without a server, and of tensors that are sent as fp32, every worker makes
  /// the update.
  bool weights_down = false;
  /// Clients of federated rounds send weights, not what they changed, and the mean of those is the
  /// server's new model. What a message leaves out counts as 0.
  bool weights_up = false;
};

/// How workers that gossip use messages. x_i are the weights of worker i after its own step, W the
/// weights of the graph's edges, which are doubly stochastic:
///
///   x_i <- x_i + step sum over j of W_ij (y_j - y_i)
///
/// y_j is what the messages of j say, as all who have them know: they say its weights and y_j is
/// what the last one says, or, with `differences`, they say x_j - y_j, and everyone adds them to
/// the y_j that they have, 0 at first.
struct GossipPlan {
  bool differences = false;
  double step = 1;
};

/// What stages of a pipeline send each other of a micro-batch: activations forwards, and their
/// gradient back. What has no codec goes as fp32.
struct BoundaryPlan {
  std::optional<compressors::CodecPlan> forward = {}, backward = {};
  /// Both ends of a boundary remember for each sample what was sent of it so far: the activations
  /// themselves at first, as fp32; later, encoded, what they have changed since, which both add to
  /// what they remember. The next stage computes on that. Precondition of true: `forward`.
  bool differences = false;
};

/// What all workers hold alike between a step's exchange and the next step, by tensor in forward
/// order. Whatever changes it must give every worker the same.
struct SharedModel {
  Moment moment = {};
  Moment next = {};   ///< of the step that follows
  bool last = false;  ///< none does: it is the run's last step
  std::uint64_t seed = 0;
  std::span<const TensorInfo> tensors = {};
  std::vector<std::span<float>> weights = {};  ///< [tensor]
  std::vector<std::span<float>> mean = {};     ///< [tensor], of what was sent; empty at the start
  std::span<float> remembered = {};            ///< the method's own, see Method::remembers
  /// The optimiser then remembers nothing of an element.
  std::function<void(std::size_t tensor, std::size_t element)> forget = {};
  /// The mean magnitude of what the optimiser has for a momentum of a tensor, after the update; of
  /// the mean gradient, where it has none.
  std::function<double(std::size_t tensor)> mean_momentum = {};
};

/// A batch as the model will see it: [count, channels, height, width].
struct ImageBatch {
  int count = 0, channels = 0, height = 0, width = 0;
  std::span<float> values;
};

/// A worker's model and samples in a step, as a method that computes by itself what is sent sees
/// them. Gradients are flat, in the order of the weights.
class WorkerPasses {
 public:
  virtual ~WorkerPasses() = default;
  /// The mean loss of the worker's batch of this step; difference = from - its gradient at these
  /// weights.
  virtual double subtract_batch(std::span<const float> weights, std::span<const float> from,
                                std::span<float> difference) = 0;
  /// The same; sum += the gradient.
  virtual double add_batch(std::span<const float> weights, std::span<float> sum) = 0;
  /// The mean loss of all of the worker's samples, and its gradient.
  virtual double of_all(std::span<const float> weights, std::span<float> gradient) = 0;
};

/// What all workers remember alike: Method::buffers() spans as large as the weights, 0 at first,
/// saved and loaded with the run.
using Memory = std::span<const std::span<float>>;

/// One a run. All calls are const and give the same answer for the same arguments: what a method
/// remembers lies in the spans it is handed, which are saved and loaded with the run.
class Method {
 public:
  virtual ~Method() = default;

  /// Tensors are parted into sets [0, sets()), for the whole run. Each set has buckets, messages
  /// and a plan of its own; set 0 is what the method is about.
  virtual std::size_t sets() const { return 1; }
  virtual std::size_t set_of(const TensorInfo&) const { return 0; }

  /// Plans that follow one another: a phase is the time in which they stay the same. The last one
  /// is where long training ends up; tables of times and sizes are replayed in it.
  virtual std::size_t phases() const { return 1; }
  /// Never decreases with the step, unless phases_alternate().
  virtual std::size_t phase(const Moment&) const { return 0; }
  virtual bool phases_alternate() const { return false; }
  virtual SetPlan plan(std::size_t set, std::size_t phase) const = 0;

  /// Numbers by tensor that plans depend on. All workers derive them alike, from the sums of the
  /// mean gradients since the last time, after so many steps; 0: never.
  virtual std::int64_t decides_every() const { return 0; }
  /// Tensors and their sums in an order of their own, the same each time.
  virtual std::vector<int> decide(std::span<const TensorInfo>,
                                  std::span<const std::span<const float>> /*sums*/) const {
    return {};
  }
  /// The plan with what was decided last; plan(set, phase) before.
  virtual SetPlan decided_plan(std::size_t set, std::size_t phase,
                               std::span<const TensorInfo> /*tensors*/,
                               std::span<const int> /*decided*/) const {
    return plan(set, phase);
  }

  /// A method that computes what a worker sends by itself, in place of its batch's gradient; gives
  /// the loss that the step reports.
  virtual bool computes() const { return false; }
  /// Neither the weights nor the memory change while workers compute.
  virtual double compute(WorkerPasses&, const Moment&, std::span<const float> /*weights*/,
                         Memory /*memory*/, std::span<float> /*gradient*/) const {
    return 0;
  }
  /// Passes over a batch that this takes, of a worker whose samples are `batches` of them.
  virtual double passes_in(std::size_t /*phase*/, double /*batches*/) const { return 1; }
  /// What all workers do alike with the mean before the update; false: there is no update.
  virtual bool before_update(const Moment&, std::span<float> /*mean*/, Memory) const {
    return true;
  }
  virtual void after_update(const Moment&, std::span<float> /*weights*/, Memory) const {}
  virtual std::size_t buffers() const { return 0; }

  /// So many neighbouring workers see the same samples at each step; a divisor of all workers.
  virtual int copies() const { return 1; }
  /// Changes the images of a training pass. `draws`: of the run, the step and the worker.
  virtual bool augments() const { return false; }
  virtual void augment(const ImageBatch&, const RandomStream& /*draws*/) const {}

  /// How gradients and scores are computed, in the whole run: rules inside layers, a scale of the
  /// loss. Statistics and checkpointing are decided elsewhere.
  virtual PassOptions passes() const { return {}; }

  /// Methods that look at whole steps, in lockstep where nothing is lost: each worker does the same
  /// by itself, without a message.
  virtual bool acts_on_model() const { return false; }
  /// Floats that such a method remembers of the run, all 0 at first; saved and loaded with it.
  virtual std::size_t remembers(std::span<const TensorInfo>) const { return 0; }
  /// Where plans are `masked`: how many elements each tensor's mask has, always. What the method
  /// remembers starts with the masks of all tensors, 1 or 0 an element; they change in steps of
  /// other phases than those with masked plans.
  virtual std::vector<std::int64_t> kept(std::span<const TensorInfo>) const { return {}; }
  /// Before the first step.
  virtual void start(SharedModel&) const {}
  /// The scale of the loss in the next pass. What comes of it is the method's: `mean` is scaled.
  virtual float loss_scale(std::span<const float> /*remembered*/) const {
    return passes().loss_scale;
  }
  /// Whether a gradient may have values that are not finite, which accept() then finds.
  virtual bool takes_any_gradient() const { return false; }
  /// Before the update; may change all that it is given. False: there is none in this step.
  virtual bool accept(SharedModel&) const { return true; }
  virtual void finish(SharedModel&) const {}
  /// A method that acts on the model, and whose result is not the weights that updates change:
  /// evaluations, and files that keep the model, are of what make_model() makes of a copy of them.
  virtual bool makes_model() const { return false; }
  virtual void make_model(SharedModel& /*copy*/) const {}
  /// What keeps a tensor of the result in a file without loss (compressors/model_file.h).
  virtual compressors::CodecChoice stored_as(const TensorInfo&) const { return {}; }
  /// Where rules inside layers remember: the part of what the method remembers that is a worker's,
  /// equally many floats for each tensor in forward order (PassOptions::layer_memory).
  virtual std::span<float> layer_memory(std::span<float> /*remembered*/, int /*worker*/) const {
    return {};
  }
  /// Whether rules write down there what they see in the passes of this step.
  virtual bool watches_layers(const Moment&, std::span<const float> /*remembered*/) const {
    return false;
  }
  /// Figures of one pass more at the end of a run, which is watched and leaves no trace: the memory
  /// as that pass left it, and by tensor by how much its gradient differs from that of the same
  /// pass with a memory of zeros, as a root of the mean square. Where there is such memory.
  virtual std::vector<std::pair<std::string, double>> pass_figures(
      std::span<const float> /*layer_memory*/, std::span<const double> /*gradient_errors*/) const {
    return {};
  }
  /// Of the run, for people: names and values.
  virtual std::vector<std::pair<std::string, double>> figures(
      std::span<const float> /*remembered*/) const {
    return {};
  }

  /// What gossip does with messages; none: the method is not for workers that gossip.
  virtual std::optional<GossipPlan> gossip() const { return {}; }
  /// A method for gossip alone.
  virtual bool of_gossip() const { return false; }

  /// What stages of a pipeline send each other.
  virtual BoundaryPlan boundary() const { return {}; }
  /// A method for pipelines alone.
  virtual bool of_pipeline() const { return false; }

  /// A method for federated rounds alone.
  virtual bool of_rounds() const { return false; }
  /// What of a tensor of set `set` a client does not send becomes 0 in `upload`, what it changed or
  /// (weights_up) its weights, before the codec sees it; `trained`: its weights.
  virtual void mask_upload(std::size_t /*set*/, std::span<const float> /*trained*/,
                           std::span<float> /*upload*/) const {}
  /// Of federated rounds, of a method with SetPlan::down: so many of its latest messages the server
  /// keeps for clients that missed them. Who missed more is sent the model. 0: not for rounds.
  virtual std::int64_t stored_messages() const { return 0; }
  /// A client of federated rounds whose upload is cut off keeps what it would have sent with what
  /// it had left out already, for its next round. Else its work is lost, and what it remembers is
  /// as it was before. Precondition of true: error feedback of all that is not sent as fp32.
  virtual bool keeps_lost_work() const { return false; }

  /// An update at the server, or at every worker alike where there is none: changes a tensor's
  /// `mean` before the optimiser takes it. `state`: server_state(tensor) floats, all 0 at first.
  virtual std::size_t server_state(const TensorInfo&) const { return 0; }
  virtual bool updates_at_server() const { return false; }
  virtual void at_server(const TensorInfo&, const Moment&, std::span<float> /*mean*/,
                         std::span<float> /*state*/) const {}
};

/// The same codec for all tensors in every step: `none`, a codec's name, `compressed`.
std::unique_ptr<Method> make_codec_method(const compressors::CodecPlan& plan);

}  // namespace gradwire::methods
