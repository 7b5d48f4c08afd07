#include <sstream>

#include "base/hash.h"
#include "trainers/schedules/synchronous_trainer.h"
#include "trainers/serial.h"

/// Saving and loading a synchronous trainer, bit for bit.
///
/// u64 magic, u64 length, content, u64 hash of the content. Content: seed, elements, step, chain
/// hash, weights, statistics, the update's rule, steps and state, codec states. Batches need
/// nothing: which samples a step sees is a function of the seed.
namespace gradwire::trainers {
namespace {

constexpr std::uint64_t kMagic = 0x32544e5241525447ull;     // "GTRARNT2", little-endian
constexpr std::uint64_t kVersion1 = 0x31544e5241525447ull;  // without the rule's name

std::uint64_t hash_of(const std::string& content) {
  Hasher hasher;
  hasher.add_text(content);
  return hasher.value();
}

[[noreturn]] void refuse(const char* reason) {
  throw TrainerError("load", "checkpoint", reason, "start the run afresh");
}

}  // namespace

void SynchronousTrainer::save(std::ostream& out) const {
  std::ostringstream stream;
  save_content(stream);
  const std::string content = stream.str();
  put(out, kMagic);
  put_span(out, std::span<const char>(content));
  put(out, hash_of(content));
  if (!out) throw TrainerError("save", "checkpoint", "writing failed", "check the disk's space");
}

void SynchronousTrainer::load(std::istream& in) {
  const auto magic = get<std::uint64_t>(in);
  if (magic == kVersion1) refuse("it has version 1, and this program reads version 2 alone");
  if (magic != kMagic) refuse("it does not start as one");
  const std::vector<char> bytes = get_vector<char>(in);
  std::string content(bytes.begin(), bytes.end());
  if (get<std::uint64_t>(in) != hash_of(content)) refuse("its check sum is wrong");
  std::istringstream stream(std::move(content));
  load_content(stream);
  if (stream.peek() != std::istringstream::traits_type::eof())
    refuse("it belongs to another kind of training");
}

void SynchronousTrainer::save_content(std::ostream& out) const {
  put(out, scenario_.seed);
  put(out, layout_.elements());
  put(out, step_);
  put(out, chain_);
  put_span(out, weights());
  put_span(out, std::span<const float>(statistics_));
  updates_.save(out);
  if (!encoder_) return states_.save(out);
  StateStore states;
  encoder_->save_states(states);
  states.save(out);
}

void SynchronousTrainer::load_content(std::istream& in) {
  if (get<std::uint64_t>(in) != scenario_.seed || get<std::int64_t>(in) != layout_.elements()) {
    refuse("it belongs to another seed or model");
  }
  step_ = get<std::int64_t>(in);
  chain_ = get<std::uint64_t>(in);
  get_into(in, weights_);
  get_into(in, statistics_);
  updates_.load(in);
  states_.load(in);
  last_graph_.reset();
  for (const auto& replica : replicas_) replica->weights_changed();
  if (!encoder_) return;
  device_update_->upload(weights_, updates_.only());
  encoder_->load_states(states_);
}

}  // namespace gradwire::trainers
