#pragma once
#include <istream>
#include <memory>
#include <ostream>

#include "trainers/updates/catalogue.h"

namespace gradwire::trainers {

/// A rule, the elements that it updates, and what it remembers of them.
class Update {
 public:
  /// `layout` must outlive it.
  Update(std::unique_ptr<const UpdateRule> rule, const Layout& layout,
         std::vector<ElementRange> ranges);
  /// Of a whole layout.
  Update(const UpdateSettings& settings, const Layout& layout)
      : Update(make_update_rule(settings), layout, whole_range(layout)) {}

  /// See UpdateRule::step.
  void step(double rate, const GradientView& gradient, std::span<float> weights);
  void step(double rate, std::span<const float> gradient, std::span<float> weights) {
    step(rate, GradientView(gradient), weights);
  }

  /// See UpdateRule::mixed; of the last step.
  void mixed(double rate, std::span<const float> before, std::span<const float> after);

  /// What it remembers of that element of the flat buffers, if it is one of its own, becomes 0.
  void forget(std::int64_t element);

  /// Of the elements among [first, first + count) that are its own: the sum of their momenta's
  /// magnitudes. Precondition: rule().keeps_momentum().
  double sum_of_momentum(std::int64_t first, std::int64_t count) const;

  const UpdateRule& rule() const { return *rule_; }
  /// What it remembers, one buffer after the other, for copies on a device.
  std::vector<std::span<float>> buffers();
  std::int64_t state_bytes() const { return static_cast<std::int64_t>(4 * state_.size()); }
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

  /// The rule's name, the number of steps done, the state.
  void save(std::ostream& out) const;
  /// Throws TrainerError where another rule or other elements were saved.
  void load(std::istream& in);

 private:
  std::unique_ptr<const UpdateRule> rule_;
  const Layout* layout_;
  std::vector<ElementRange> ranges_;
  std::vector<float> state_;
  std::int64_t steps_ = 0;
};

}  // namespace gradwire::trainers
