#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <chrono>
#include <mutex>

#include "trainers/device/cuda_device.h"
#include "trainers/passes/live_bytes.h"
#include "trainers/passes/network.h"
#include "trainers/passes/replica.h"
#include "trainers/passes/segments.h"
#include "trainers/passes/stage_passes.h"
#include "trainers/passes/torch_gradients.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point start) {
  return Seconds(std::chrono::duration<double>(Clock::now() - start).count());
}

/// Each pass uses one intra-op thread; LibTorch keeps that setting per calling thread.
void use_one_thread() {
  thread_local const bool done = [] {
    at::set_num_threads(1);
    return true;
  }();
  static_cast<void>(done);
}

/// Mean over predictions, of [predictions, classes] against class numbers.
using Loss = at::Tensor (*)(const at::Tensor& results, const at::Tensor& targets);

Loss loss_of(const std::string& name) {
  if (name == "nll")
    return [](const at::Tensor& results, const at::Tensor& targets) {
      return at::nll_loss(results, targets);
    };
  if (name == "mse")
    return [](const at::Tensor& results, const at::Tensor& targets) {
      return at::mse_loss(results, at::one_hot(targets, results.size(1)).to(at::kFloat));
    };
  if (name == "squared-hinge")
    return [](const at::Tensor& results, const at::Tensor& targets) {
      const at::Tensor signs = at::one_hot(targets, results.size(1)).to(at::kFloat) * 2 - 1;
      return at::relu(1 - signs * results).square().mean();
    };
  GRADWIRE_ASSERT(name == "cross-entropy");
  return [](const at::Tensor& results, const at::Tensor& targets) {
    return at::cross_entropy_loss(results, targets);
  };
}

/// The stream that passes run on: the calling thread's current one.
c10::Stream current_stream(at::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

class TorchReplica final : public Replica {
 public:
  TorchReplica(const Network& network, Loss loss, const DataSet& data, const Layout& layout,
               std::span<float> weights, std::span<float> statistics, at::Device device,
               bool keep_gradients)
      : network_(network),
        loss_(loss),
        data_(data),
        layout_(layout),
        device_(device),
        keep_gradients_(keep_gradients),
        flat_(weights),
        flat_statistics_(statistics) {
    use_one_thread();
    const at::Tensor whole = at::from_blob(weights.data(), {layout.elements()}, at::kFloat);
    // On the CPU `whole` is the trainer's buffer itself; on a device it is a copy of it.
    device_weights_ = whole.to(device);
    for (const Parameter& parameter : network.parameters()) {
      const TensorSlot& slot =
          layout.tensors()[layout.tensor_of(static_cast<int>(parameters_.size()))];
      parameters_.push_back(device_weights_.narrow(0, slot.first, slot.count)
                                .view(parameter.shape)
                                .detach()
                                .set_requires_grad(true));
    }
    bind_statistics(statistics);
  }

  std::unique_ptr<Gradients> make_gradients() const override {
    if (device_.is_cpu()) return std::make_unique<TorchGradients>();
    return std::make_unique<FlatGradients>(layout_, network_.parameters(), device_,
                                           keep_gradients_);
  }

  double train_pass(const Batch& batch, const PassOptions& options, Gradients& gradients) override {
    use_one_thread();
    if (!device_.is_cpu())
      return device_pass(batch, options, static_cast<FlatGradients&>(gradients));
    const at::Tensor loss = training_loss(batch, options);
    go_back(loss, options);
    static_cast<TorchGradients&>(gradients).take(take_gradients());
    return loss.item<float>();
  }

  double train_stages(const Batch& batch, const PassOptions& options,
                      std::span<const std::size_t> ends, StageBoundaries& boundaries,
                      Gradients& gradients) override {
    use_one_thread();
    if (!device_.is_cpu()) static_cast<FlatGradients&>(gradients).bind(parameters_);
    const at::Tensor loss =
        through_stages(input_of(batch), targets_of(batch), options, ends, boundaries);
    if (device_.is_cpu()) {
      static_cast<TorchGradients&>(gradients).take(take_gradients());
    } else {
      static_cast<FlatGradients&>(gradients).finish(parameters_);
      if (options.record_statistics) copy_statistics(/*to_host=*/true);
    }
    return loss.item<float>();
  }

  std::vector<std::int64_t> stage_activation_bytes(const Batch& batch, const PassOptions& options,
                                                   std::span<const std::size_t> ends) override {
    use_one_thread();
    PassOptions untraced = options;
    untraced.record_statistics = false;
    const at::Tensor input = input_of(batch), targets = targets_of(batch);
    const auto live = std::make_shared<LiveBytes>();
    StageBytes bytes(*live);
    {
      const c10::DebugInfoGuard counting(c10::DebugInfoKind::PROFILER_STATE, live);
      through_stages(input, targets, untraced, ends, bytes);
    }
    for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
    return bytes.kept();
  }

  PassTimes time_pass(const Batch& batch, const PassOptions& options) override {
    use_one_thread();
    PassOptions untraced = options;
    untraced.record_statistics = false;
    return device_.is_cpu() ? time_cpu_pass(batch, untraced) : time_device_pass(batch, untraced);
  }

  Score evaluate(const Batch& batch, const PassOptions& options) override {
    use_one_thread();
    const at::NoGradGuard no_gradients;
    follow(options);
    statistics_.training = statistics_.record = false;
    const at::Tensor logits = network_.forward(parameters_, input_of(batch), statistics_, rules_);
    const at::Tensor targets = targets_of(batch);
    Score score;
    score.count = static_cast<double>(targets.numel());
    score.loss = loss_(logits, targets).item<float>() * score.count;
    score.right = static_cast<double>(logits.argmax(1).eq(targets).sum().item<std::int64_t>());
    return score;
  }

  std::optional<std::int64_t> activation_bytes(const Batch& batch,
                                               const PassOptions& options) override {
    use_one_thread();
    PassOptions untraced = options;
    untraced.record_statistics = false;
    const at::Tensor input = input_of(batch), targets = targets_of(batch);
    const auto live = std::make_shared<LiveBytes>();
    const c10::DebugInfoGuard counting(c10::DebugInfoKind::PROFILER_STATE, live);
    const at::Tensor loss = training_loss(input, targets, untraced);
    const std::int64_t kept = live->bytes();
    if (options.checkpoint_segments == 0) return kept;
    loss.backward();  // counts what it computes again
    for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
    return kept + live->recomputed();
  }

  void weights_changed() override {
    if (device_.is_cpu()) return;
    const at::NoGradGuard no_gradients;
    device_weights_.copy_(host_weights());
    copy_statistics(/*to_host=*/false);
  }

  DeviceMemory device_memory() const override {
    if (!keep_gradients_) return {};
    return {device_weights_.data_ptr<float>(), current_stream(device_).native_handle()};
  }

 private:
  double device_pass(const Batch& batch, const PassOptions& options, FlatGradients& gradients) {
    const at::Tensor loss = training_loss(batch, options);
    gradients.bind(parameters_);
    go_back(loss, options);
    gradients.finish(parameters_);
    if (options.record_statistics) copy_statistics(/*to_host=*/true);
    return loss.item<float>();
  }

  PassTimes time_cpu_pass(const Batch& batch, const PassOptions& options) {
    PassTimes times;
    times.ready.resize(parameters_.size());
    Clock::time_point start = Clock::now();
    std::vector<unsigned> hooks;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      hooks.push_back(parameters_[p].register_hook([this, p, &times, &start](const at::Tensor&) {
        times.ready[layout_.tensor_of(static_cast<int>(p))] = since(start);
      }));
    }
    const at::Tensor loss = training_loss(batch, options);
    times.forward = since(start);
    start = Clock::now();
    go_back(loss, options);
    times.backward = since(start);
    for (std::size_t p = 0; p < parameters_.size(); ++p) parameters_[p].remove_hook(hooks[p]);
    take_gradients();
    return times;
  }

  /// CUDA events in the passes' own stream: the host waits once, at the end.
  PassTimes time_device_pass(const Batch& batch, const PassOptions& options) {
    const auto event = [this] {
      return c10::Event(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
    };
    const auto mark = [this](c10::Event& at) { at.record(current_stream(device_)); };
    const auto seconds = [](const c10::Event& from, const c10::Event& to) {
      return Seconds(1e-3 * from.elapsedTime(to));
    };
    c10::Event start = event(), forward = event(), end = event();
    std::vector<c10::Event> ready;
    std::vector<unsigned> hooks;
    for (std::size_t p = 0; p < parameters_.size(); ++p) ready.push_back(event());
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      hooks.push_back(
          parameters_[p].register_hook([&mark, &at = ready[p]](const at::Tensor&) { mark(at); }));
    }
    mark(start);
    const at::Tensor loss = training_loss(batch, options);
    mark(forward);
    go_back(loss, options);
    mark(end);
    end.synchronize();
    PassTimes times{seconds(start, forward), std::vector<Seconds>(parameters_.size()),
                    seconds(forward, end)};
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      times.ready[layout_.tensor_of(static_cast<int>(p))] = seconds(forward, ready[p]);
      parameters_[p].remove_hook(hooks[p]);
      parameters_[p].mutable_grad().reset();
    }
    return times;
  }

  at::Tensor host_weights() const {
    return at::from_blob(flat_.data(), {layout_.elements()}, at::kFloat);
  }

  /// A device's running statistics to the trainer's buffer (for checkpoints), or back.
  void copy_statistics(bool to_host) {
    float* at = flat_statistics_.data();
    for (at::Tensor& values : statistics_.values) {
      at::Tensor host = at::from_blob(at, {values.numel()}, at::kFloat);
      to_host ? host.copy_(values) : values.copy_(host);
      at += values.numel();
    }
  }

  void bind_statistics(std::span<float> statistics) {
    std::size_t at = 0;
    for (const StatisticsTensor& each : network_.statistics()) {
      const auto count = static_cast<std::int64_t>(each.initial.size());
      statistics_.values.push_back(
          at::from_blob(statistics.data() + at, {count}, at::kFloat).to(device_));
      at += each.initial.size();
    }
    if (network_.rule_floats() > 0)
      statistics_.of_rules = statistics_.values.back().view({-1, network_.rule_floats()});
  }

  at::Tensor input_of(const Batch& batch) const { return input_tensor(data_, batch).to(device_); }
  at::Tensor targets_of(const Batch& batch) const {
    return at::from_blob(const_cast<std::int64_t*>(batch.targets.data()),
                         {static_cast<std::int64_t>(batch.targets.size())}, at::kLong)
        .to(device_);
  }

  /// Makes the layers' rules where they are not those of the pass before.
  void follow(const PassOptions& options) {
    if ((options.checkpoint_segments > 0 || !options.layer_rules.empty()) && !network_.has_layers())
      throw TrainerError("train", "torchscript",
                         "the layers of a saved model cannot be reached one by one",
                         "train it without checkpoints and layer rules");
    if (options.checkpoint_segments > static_cast<int>(network_.stages()))
      throw TrainerError("train in", std::to_string(options.checkpoint_segments) + " segments",
                         "the model has " + std::to_string(network_.stages()) + " parts to cut",
                         "take so many segments at most");
    if (rule_choices_ == options.layer_rules) return;
    rules_ = make_layer_rules(options.layer_rules);
    rule_choices_ = options.layer_rules;
  }

  at::Tensor training_loss(const Batch& batch, const PassOptions& options) {
    return training_loss(input_of(batch), targets_of(batch), options);
  }
  at::Tensor training_loss(const at::Tensor& input, const at::Tensor& targets,
                           const PassOptions& options) {
    follow(options);
    take_statistics(options);
    if (options.checkpoint_segments == 0)
      return loss_(network_.forward(parameters_, input, statistics_, rules_), targets);
    return loss_(forward_in_segments(network_, parameters_, input, statistics_, rules_,
                                     static_cast<std::size_t>(options.checkpoint_segments)),
                 targets);
  }
  at::Tensor through_stages(const at::Tensor& input, const at::Tensor& targets,
                            const PassOptions& options, std::span<const std::size_t> ends,
                            StageBoundaries& boundaries) {
    follow(options);
    GRADWIRE_ASSERT(options.checkpoint_segments == 0 && ends.back() == network_.stages());
    take_statistics(options);
    return pass_stages(
        network_, ends, parameters_, input, statistics_, rules_, boundaries,
        [&](const at::Tensor& results) { return loss_(results, targets); }, options.loss_scale);
  }
  void take_statistics(const PassOptions& options) {
    statistics_.training = true;
    statistics_.record = options.record_statistics;
    statistics_.draws = options.draws;
    statistics_.layer_memory = options.layer_memory;
    statistics_.watch_layers = options.watch_layers;
  }
  static void go_back(const at::Tensor& loss, const PassOptions& options) {
    (options.loss_scale == 1 ? loss : loss * options.loss_scale).backward();
  }

  /// Takes over the gradients that the backward pass left on the CPU, in layout order.
  std::vector<at::Tensor> take_gradients() {
    std::vector<at::Tensor> taken(parameters_.size());
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      at::Tensor& gradient = parameters_[p].mutable_grad();
      GRADWIRE_ASSERT(gradient.defined());
      taken[layout_.tensor_of(static_cast<int>(p))] = gradient.contiguous();
      gradient.reset();
    }
    return taken;
  }

  const Network& network_;
  Loss loss_;
  const DataSet& data_;
  const Layout& layout_;
  at::Device device_;
  bool keep_gradients_;
  std::span<float> flat_;
  std::span<float> flat_statistics_;
  at::Tensor device_weights_;
  std::vector<at::Tensor> parameters_;
  Statistics statistics_;
  std::vector<LayerRuleChoice> rule_choices_;
  LayerRules rules_;
};

class TorchModel final : public Model {
 public:
  TorchModel(const ModelChoice& choice, const DataSet& data, at::Device device,
             std::string device_name, bool keep_gradients)
      : network_(make_network(choice, data)),
        loss_(loss_of(choice.loss)),
        data_(data),
        device_(device),
        device_name_(std::move(device_name)),
        keep_gradients_(keep_gradients) {}

  std::span<const Parameter> parameters() const override { return network_->parameters(); }

  std::vector<float> initial_statistics() const override {
    std::vector<float> values;
    for (const StatisticsTensor& each : network_->statistics())
      values.insert(values.end(), each.initial.begin(), each.initial.end());
    return values;
  }

  std::unique_ptr<Replica> make_replica(const Layout& layout, std::span<float> weights,
                                        std::span<float> statistics) const override {
    return std::make_unique<TorchReplica>(*network_, loss_, data_, layout, weights, statistics,
                                          device_, keep_gradients_);
  }

  std::string device_name() const override { return device_name_; }
  std::vector<std::size_t> part_starts() const override {
    std::vector<std::size_t> starts;
    for (std::size_t part = 0; part < network_->stages(); ++part)
      starts.push_back(network_->first_parameter(part));
    return starts;
  }

 private:
  std::unique_ptr<Network> network_;
  Loss loss_;
  const DataSet& data_;
  at::Device device_;
  std::string device_name_;
  bool keep_gradients_;
};

}  // namespace

std::unique_ptr<Model> make_model(const ModelChoice& choice, const DataSet& data,
                                  const std::string& device, bool keep_gradients) {
  if (device == "cuda") {
    return std::make_unique<TorchModel>(choice, data, at::Device(at::kCUDA, 0), load_cuda(),
                                        keep_gradients);
  }
  return std::make_unique<TorchModel>(choice, data, at::Device(at::kCPU), cpu_model_name(), false);
}

}  // namespace gradwire::trainers
