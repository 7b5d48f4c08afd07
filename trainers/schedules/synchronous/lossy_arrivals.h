#pragma once
#include "trainers/schedules/synchronous/arrivals.h"

/// Lockstep over a network that loses data for good (udp-lossy). Nothing is sent again and nobody
/// is told: worker w decodes what has arrived at w.
///
///   g_w = grad of mean loss over B_w at w's own weights x_w,t
///   m_w = (1/N) sum of what of the g_v has reached w; what is missing counts as zero
///   x_w,t+1 = update_w(x_w,t, m_w)
///
/// So replicas drift apart. A codec's memory (error feedback) takes what was sent as delivered.
/// docs/network.md says what a gap costs by exchange and codec, and what others do.
///
/// A step is planned as if all of it arrived, which gives the messages' sizes; when it has ended
/// what is missing is known, and the exchange is done again without it. The next step starts when
/// all workers have ended this one. Where nothing is lost all is bit-equal to a network that loses
/// nothing, the hash too.
///
/// The learner's weights, evaluations and running statistics are worker 0's: the model that would
/// be saved.
namespace gradwire::trainers {

class LossyArrivals final : public Arrivals {
 public:
  LossyArrivals(Learner& learner, SetUpdates& updates);

  bool waits() const override { return true; }
  bool workers_differ() const override { return true; }
  std::span<const float> weights_of(int worker) const override;
  void begin(std::uint64_t chain) override;
  /// `missing_share`: of the payload's bytes; `gradient_error`: rms over workers of |m_w - m| /
  /// |m|, m being the mean of a network that loses nothing, with these weights; `weight_spread`:
  /// rms over workers of |x_w - x| / |x|, x being the workers' mean, after the update.
  std::vector<scenarios::Figure> end(const EndedStep& step) override;
  /// The same of the run: of all its bytes, the mean over its steps, at its end.
  std::vector<scenarios::Figure> figures() const override;
  /// Where all workers hold equal weights, one copy; else all of them.
  void add_weights(Hasher& hasher) const override;
  const Before* before() const override { return under_way_ ? &before_ : nullptr; }
  void save(std::ostream& out) const override;
  bool load(std::istream& in) override;

 private:
  struct Sums {
    std::int64_t missing = 0, payload = 0, steps = 0;
    double gradient_error = 0;
    double weight_spread = 0;  ///< the last step's
  };

  int workers() const { return learner_.workers(); }
  std::span<float> weights_of(int worker);
  SetUpdates& update_of(int worker);
  double gradient_error(const EndedStep& step, std::span<const float> complete) const;
  double weight_spread() const;
  std::vector<scenarios::Figure> as_figures(const Sums& sums) const;

  Learner& learner_;
  SetUpdates& updates_;                     ///< worker 0's
  std::vector<std::vector<float>> others_;  ///< [worker - 1]: their weights
  std::vector<SetUpdates> other_updates_;   ///< [worker - 1]
  Before before_;
  bool under_way_ = false;
  Sums all_;
};

}  // namespace gradwire::trainers
