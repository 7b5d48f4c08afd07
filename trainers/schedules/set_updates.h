#pragma once
#include <iosfwd>
#include <map>
#include <utility>
#include <vector>

#include "scenarios/scenario.h"
#include "trainers/methods/method.h"
#include "trainers/updates/update.h"

/// The scenario's update rule for each set of a method's tensors.
namespace gradwire::trainers {

/// Of a set whose plans apply momentum in some phases and not in others there are two, each with a
/// state of its own: what one remembers waits while the other works.
class SetUpdates {
 public:
  /// `layout` must outlive it.
  SetUpdates(const scenarios::Scenario& scenario, const methods::Method& method,
             const Layout& layout);

  SetUpdates(SetUpdates&&) = default;  // a map's nodes stay where they are; a copy's would not
  SetUpdates& operator=(SetUpdates&&) = default;

  /// Updates every set as the method's plan for `phase` has it. See UpdateRule::step.
  void step(std::size_t phase, double rate, const GradientView& gradient, std::span<float> weights);
  /// Precondition (assertion): one set, and one rule for all phases, as on a device.
  Update& only();
  const Update& only() const;

  /// What is remembered of an element of the flat buffers becomes 0.
  void forget(std::int64_t element);

  /// What all of them remember.
  std::int64_t state_bytes() const;

  void save(std::ostream& out) const;
  /// Throws TrainerError where another rule or other elements were saved.
  void load(std::istream& in);

 private:
  std::map<std::pair<std::size_t, bool>, Update> updates_;  ///< by set and whether with momentum
  std::vector<std::vector<Update*>> of_phase_;              ///< those that work in it
};

}  // namespace gradwire::trainers
