#include "runner/checkpoints/run_state.h"

#include <string>
#include <utility>

#include "base/serial.h"

namespace gradwire::runner {
namespace {

using scenarios::ComputeProfile;

/// Calls `field` for each number of a profile, or of a bucket of one.
template <class Profile, class Field>
void each_time(Profile& profile, Field&& field) {
  field(profile.forward);
  field(profile.update);
  field(profile.spread);
  field(profile.repetitions);
  field(profile.compute_range);
  field(profile.codec_range);
}

template <class Bucket, class Field>
void each_bucket_number(Bucket& bucket, Field&& field) {
  field(bucket.elements);
  field(bucket.backward);
  field(bucket.encode);
  field(bucket.decode);
  field(bucket.aggregate);
  field(bucket.scale);
}

}  // namespace

void save_state(const RunState& state, std::ostream& out) {
  const auto write = [&](const auto& number) { put(out, number); };
  write(state.stimuli);
  write(state.wall_s);
  put_optional(out, state.summarized);
  put_text(out, state.profile.provenance);
  put_text(out, state.profile.device);
  each_time(state.profile, write);
  put<std::uint64_t>(out, state.profile.buckets.size());
  for (const ComputeProfile::Bucket& bucket : state.profile.buckets) {
    put_text(out, bucket.name);
    each_bucket_number(bucket, write);
  }
}

RunState load_state(std::istream& in) {
  const auto read = [&](auto& number) { number = get<std::decay_t<decltype(number)>>(in); };
  RunState state;
  read(state.stimuli);
  read(state.wall_s);
  state.summarized = get_optional<std::uint64_t>(in);
  state.profile.provenance = get_text(in);
  state.profile.device = get_text(in);
  each_time(state.profile, read);
  for (auto left = get<std::uint64_t>(in); left > 0; --left) {
    ComputeProfile::Bucket bucket;
    bucket.name = get_text(in);
    each_bucket_number(bucket, read);
    state.profile.buckets.push_back(std::move(bucket));
  }
  return state;
}

}  // namespace gradwire::runner
