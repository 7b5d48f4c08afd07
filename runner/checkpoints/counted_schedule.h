#pragma once
#include <cstdint>

#include "scenarios/session.h"

namespace gradwire::runner {

/// Counts what a schedule has reacted to.
class CountedSchedule final : public scenarios::Schedule {
 public:
  CountedSchedule(scenarios::Schedule& inner, std::uint64_t& stimuli)
      : inner_(inner), stimuli_(stimuli) {}
  void start(scenarios::Session& session) override {
    inner_.start(session);
    ++stimuli_;
  }
  void on(const sim::Event& event, scenarios::Session& session) override {
    inner_.on(event, session);
    ++stimuli_;
  }
  void on_wake(std::uint64_t token, scenarios::Session& session) override {
    inner_.on_wake(token, session);
    ++stimuli_;
  }
  void stop(scenarios::Session& session) override { inner_.stop(session); }
  bool survives_failures() const override { return inner_.survives_failures(); }

 private:
  scenarios::Schedule& inner_;
  std::uint64_t& stimuli_;
};

}  // namespace gradwire::runner
