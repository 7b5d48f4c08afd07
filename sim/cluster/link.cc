#include "sim/cluster/link.h"

#include <cmath>

#include "sim/sim_error.h"

namespace gradwire::sim {
namespace {

bool is_probability(double p) {
  return p >= 0 && p <= 1;
}

bool is_duration(Seconds time) {
  return time.value() >= 0 && std::isfinite(time.value());
}

/// What is wrong with it, or "".
const char* flaw(const BurstLoss& burst) {
  if (!is_probability(burst.enter) || !is_probability(burst.leave) || !is_probability(burst.loss))
    return "its burst loss has a number that is no probability";
  if (burst.enter > 0 && burst.leave <= 0 && burst.loss >= 1) return "its bursts of loss never end";
  return "";
}

const char* flaw(const std::vector<Outage>& outages) {
  Seconds last{0};
  for (const Outage& outage : outages) {
    if (!is_duration(outage.begin) || !is_duration(outage.end) || outage.end <= outage.begin)
      return "one of its outages does not end after it begins, or never ends";
    if (outage.begin < last) return "its outages overlap, or go back in time";
    last = outage.end;
  }
  return "";
}

}  // namespace

BitsPerSecond Link::nominal_rate(ChannelId channel) const {
  const RateSchedulePtr& follows = schedule(channel);
  if (!follows) return spec.rate;
  if (follows->period().value() > 0) return follows->mean_rate();
  for (const RateSchedule::Piece& piece : follows->pieces()) {
    if (piece.rate.value() > 0) return piece.rate;
  }
  return spec.rate;
}

void check_link(const std::string& subject, const LinkSpec& spec) {
  const auto refuse_if = [&](bool wrong, std::string_view reason, std::string_view remedy) {
    if (wrong) throw SimError("use", subject, reason, remedy);
  };
  refuse_if(!(spec.rate.value() > 0) || !std::isfinite(spec.rate.value()),
            "its rate is not positive and finite", "give it a rate such as 1Gbps");
  refuse_if(!is_duration(spec.delay), "its delay is negative or not finite",
            "give it a delay such as 50us");
  refuse_if(!(spec.loss >= 0) || !(spec.loss < 1), "its loss is not in [0, 1)",
            "loss is a probability per packet, such as 0.01");
  refuse_if(spec.queue.count() < 0, "its queue is negative", "0 sizes the queue automatically");
  refuse_if(!is_duration(spec.jitter), "its jitter is negative or not finite",
            "give it a time such as 1ms");
  refuse_if(!is_duration(spec.schedule_offset), "its schedule's offset is negative or not finite",
            "give it a time such as 7s");
  refuse_if(spec.half_duplex && (spec.schedule || spec.schedule_back),
            "it is half duplex and has a schedule", "a shared medium has one rate");
  const std::string_view burst = flaw(spec.burst);
  refuse_if(!burst.empty(), burst, "enter, leave and loss are probabilities per packet");
  const std::string_view outages = flaw(spec.outages);
  refuse_if(!outages.empty(), outages, "list them in order, each with begin before end");
}

}  // namespace gradwire::sim
