#pragma once
#include <iosfwd>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "scenarios/scenario.h"
#include "trainers/methods/method.h"
#include "trainers/updates/update.h"

/// The scenario's update rule for each set of a method's tensors.
namespace gradwire::trainers {

/// Of a set whose plans apply momentum in some phases and not in others there are two, each with a
/// state of its own: what one remembers waits while the other works. Where the optimiser's state is
/// partitioned (zero_stage()) each worker has updates of its own, of its shard alone.
class SetUpdates {
 public:
  /// `layout` must outlive it.
  SetUpdates(const scenarios::Scenario& scenario, const methods::Method& method,
             const Layout& layout);

  SetUpdates(SetUpdates&&) = default;  // a map's nodes stay where they are; a copy's would not
  SetUpdates& operator=(SetUpdates&&) = default;

  /// Updates every set as the method's plan for `phase` has it. See UpdateRule::step.
  void step(std::size_t phase, double rate, const GradientView& gradient, std::span<float> weights);
  /// See UpdateRule::mixed; of all sets.
  bool watches_mixing() const;
  void mixed(std::size_t phase, double rate, std::span<const float> before,
             std::span<const float> after);
  /// Precondition (assertion): one set, and one rule for all phases, as on a device.
  Update& only();
  const Update& only() const;

  /// What is remembered of an element of the flat buffers becomes 0.
  void forget(std::int64_t element);

  /// The mean magnitude of the momenta of elements [first, first + count), where all of them have
  /// one.
  std::optional<double> mean_momentum(std::int64_t first, std::int64_t count) const;

  /// What all of them remember; of several workers the one that has most.
  std::int64_t state_bytes() const;

  void save(std::ostream& out) const;
  /// Throws TrainerError where another rule or other elements were saved.
  void load(std::istream& in);

 private:
  using Key = std::tuple<int, std::size_t, bool>;  ///< worker, set, whether with momentum
  void add(const scenarios::Scenario& scenario, const methods::Method& method, const Layout& layout,
           int rank, ElementRanges shard);

  std::map<Key, Update> updates_;
  std::vector<std::vector<Update*>> of_phase_;  ///< those that work in it
};

}  // namespace gradwire::trainers
