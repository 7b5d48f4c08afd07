#pragma once
#include <iosfwd>
#include <vector>

#include "trainers/schedules/learner.h"
#include "trainers/schedules/set_updates.h"

namespace gradwire::trainers {

/// What a method does with whole steps (methods::Method::acts_on_model): the model as it sees it,
/// and what it remembers. Does nothing for other methods.
class ModelActs {
 public:
  /// Both must outlive it. Lets the method start.
  ModelActs(Learner& learner, SetUpdates& updates);

  /// Before the passes of a step.
  void begin_step(const Moment& moment);
  /// False: the step has no update.
  bool before_update(const Moment& moment, std::span<float> mean);
  void after_update(const Moment& moment, std::span<float> mean);
  std::vector<scenarios::Figure> figures() const;
  /// What the method makes of the weights before that step (Method::make_model).
  std::vector<float> made_model(const Moment& moment);
  std::span<const float> remembered() const { return remembered_; }

  void save(std::ostream& out) const;
  void load(std::istream& in);

 private:
  methods::SharedModel model(const Moment& moment, std::span<float> mean);

  Learner& learner_;
  SetUpdates& updates_;
  bool acts_;
  std::vector<methods::TensorInfo> infos_;
  std::vector<float> remembered_;
  std::size_t file_bytes_ = 0;                  ///< that keep the model, where the method makes one
  std::vector<std::span<float>> layer_memory_;  ///< [worker], of what is remembered; or empty
};

}  // namespace gradwire::trainers
