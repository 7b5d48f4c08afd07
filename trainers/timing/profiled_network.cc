#include "trainers/data/sampling.h"
#include "trainers/layout.h"
#include "trainers/passes/network.h"
#include "trainers/timing/profiled_model.h"

namespace gradwire::trainers {
namespace {

class ProfiledNetwork final : public ProfiledModel {
 public:
  ProfiledNetwork(const ModelProfileRequest& request, at::Device device)
      : data_(load_data_set(request.data_set, request.data_path, 1)),
        network_(make_network(request.model, data_)) {
    Batch batch;
    Sampler sampler(data_.train, 1, request.batch, 1);
    gather(data_, sampler.batch(0, 0), batch);
    fill_tensors(batch, device);
    fill_parameters(device);
    for (const StatisticsTensor& each : network_->statistics())
      statistics_.values.push_back(at::tensor(each.initial).to(device));
    statistics_.training = true;
  }

  at::Tensor loss() override {
    return at::cross_entropy_loss(network_->forward(tensors_, input_, statistics_), targets_);
  }
  const Named& parameters() const override { return named_; }

 private:
  void fill_tensors(const Batch& batch, at::Device device) {
    if (data_.is_text())
      input_ = at::tensor(batch.tokens, at::kLong).view({batch.count, data_.sequence}).to(device);
    else
      input_ = at::tensor(batch.inputs, at::kFloat)
                   .view({batch.count, data_.channels, data_.height, data_.width})
                   .to(device);
    targets_ = at::tensor(batch.targets, at::kLong).to(device);
  }

  void fill_parameters(at::Device device) {
    const std::vector<Parameter>& parameters = network_->parameters();
    const Layout layout(parameters, Bytes(1));
    std::vector<float> weights(static_cast<std::size_t>(layout.elements()));
    initialise(parameters, layout, 1, weights);
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      const TensorSlot& slot = layout.tensors()[layout.tensor_of(static_cast<int>(p))];
      tensors_.push_back(at::from_blob(weights.data() + slot.first, slot.shape, at::kFloat)
                             .clone()
                             .to(device)
                             .set_requires_grad(true));
      named_.emplace_back(parameters[p].name, tensors_.back());
    }
  }

  DataSet data_;
  std::unique_ptr<Network> network_;
  Statistics statistics_;
  at::Tensor input_, targets_;
  std::vector<at::Tensor> tensors_;
  Named named_;
};

}  // namespace

std::unique_ptr<ProfiledModel> profiled_network(const ModelProfileRequest& request,
                                                at::Device device) {
  return std::make_unique<ProfiledNetwork>(request, device);
}

}  // namespace gradwire::trainers
