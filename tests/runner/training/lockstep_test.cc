#include "runner/training/lockstep.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "sim/graph/payloads.h"

namespace gradwire::runner {
namespace {

/// Plans steps whose one message holds 1,000 bytes, or does not say what.
class Talker final : public scenarios::Trainer {
 public:
  explicit Talker(bool keeps) : keeps_(keeps) {
    sim::GraphBuilder builder;
    builder.add_transfer(0, 1, "move", {});
    graph_ = builder.finish();
  }
  const scenarios::ComputeProfile& prepare() override { return profile_; }
  void use_profile(const scenarios::ComputeProfile&) override {}
  bool next(scenarios::StepPlan& plan) override {
    if (step_ == steps_total()) return false;
    plan.step = step_++;
    plan.graph = graph_;
    plan.bytes = {Bytes(1'000)};
    plan.seconds = {Seconds(0)};
    if (!keeps_) return true;
    const auto payloads = std::make_shared<sim::Payloads>();
    payloads->add(0, std::vector<std::byte>(1'000));
    plan.payloads = payloads;
    return true;
  }
  void on_submitted(const scenarios::StepPlan&, sim::GraphId) override {}
  scenarios::Evaluation evaluate() override { return {}; }
  std::int64_t steps_total() const override { return 10; }
  std::int64_t parameters() const override { return 0; }
  std::uint64_t learning_hash() const override { return 0; }
  void save(std::ostream&) const override {}
  void load(std::istream&) override {}

 private:
  bool keeps_;
  std::int64_t step_ = 0;
  sim::GraphPtr graph_;
  scenarios::ComputeProfile profile_;
};

/// Takes what is submitted, and has it never end.
class Listener final : public scenarios::Session {
 public:
  sim::GraphId submit(scenarios::Work work) override {
    held_ += work.payloads ? static_cast<std::int64_t>(work.payloads->bytes().size()) : 0;
    return ++graphs_;
  }
  void cancel(sim::GraphId) override {}
  void drop(sim::GraphId) override {}
  void wake_at(Seconds, std::uint64_t) override {}
  Seconds now() const override { return Seconds(0); }
  const sim::Timeline& timeline(sim::GraphId) const override { return timeline_; }
  std::span<const sim::MissingData> missing(sim::GraphId) const override { return {}; }
  void close(scenarios::StepReport) override {}
  std::int64_t held() const { return held_; }

 private:
  sim::GraphId graphs_ = 0;
  std::int64_t held_ = 0;
  sim::Timeline timeline_;
};

std::int64_t held_by(bool keeps, Bytes most) {
  Talker trainer(keeps);
  Lockstep lockstep(trainer, {.train_first = true,
                              .most_payloads = most,
                              .evaluates = [](std::int64_t) { return false; },
                              .before_submit = [](const scenarios::StepPlan&) {},
                              .on_submitted = [](const scenarios::StepPlan&, sim::GraphId) {},
                              .interrupted = [] { return false; }});
  Listener session;
  lockstep.start(session);
  return session.held();
}

TEST_CASE("lockstep: what trained steps hold fits into memory, or is refused with how much it is") {
  CHECK(held_by(true, Bytes(10'000)) == 2'000);  // two steps are in flight
  CHECK(held_by(true, Bytes(0)) == 2'000);       // no limit
  CHECK(held_by(false, Bytes(1)) == 0);
  CHECK_THROWS_WITH(held_by(true, Bytes(9'999)),
                    Catch::Contains("the first 10 steps") && Catch::Contains("10.0 kB"));
}

}  // namespace
}  // namespace gradwire::runner
