#include "trainers/schedules/checkpoint.h"

#include <sstream>

#include "base/hash.h"
#include "trainers/schedules/synchronous_trainer.h"
#include "trainers/serial.h"

/// Saving and loading a synchronous trainer, bit for bit: step, chain hash, the learner's part, the
/// update's rule, steps and state. Batches need nothing: which samples a step sees is a function of
/// the seed.
namespace gradwire::trainers {
namespace {

constexpr std::uint64_t kMagic = 0x33544e5241525447ull;  // "GTRARNT3", little-endian
constexpr std::uint64_t kVersions = 0x00ffffffffffffffull;

std::uint64_t hash_of(const std::string& content) {
  Hasher hasher;
  hasher.add_text(content);
  return hasher.value();
}

[[noreturn]] void refuse(const std::string& reason) {
  throw TrainerError("load", "checkpoint", reason, "start the run afresh");
}

}  // namespace

void save_checked(std::ostream& out, const std::function<void(std::ostream&)>& save) {
  std::ostringstream stream;
  save(stream);
  const std::string content = stream.str();
  put(out, kMagic);
  put_span(out, std::span<const char>(content));
  put(out, hash_of(content));
  if (!out) throw TrainerError("save", "checkpoint", "writing failed", "check the disk's space");
}

void load_checked(std::istream& in, const std::function<void(std::istream&)>& load) {
  const auto magic = get<std::uint64_t>(in);
  if (magic != kMagic && (magic & kVersions) == (kMagic & kVersions))
    refuse("it has version " + std::string(1, static_cast<char>(magic >> 56)) +
           ", and this program reads version 3 alone");
  if (magic != kMagic) refuse("it does not start as one");
  const std::vector<char> bytes = get_vector<char>(in);
  std::string content(bytes.begin(), bytes.end());
  if (get<std::uint64_t>(in) != hash_of(content)) refuse("its check sum is wrong");
  std::istringstream stream(std::move(content));
  load(stream);
  if (stream.peek() != std::istringstream::traits_type::eof())
    refuse("it belongs to another kind of training");
}

void SynchronousTrainer::save(std::ostream& out) const {
  save_checked(out, [this](std::ostream& content) { save_content(content); });
}

void SynchronousTrainer::load(std::istream& in) {
  load_checked(in, [this](std::istream& content) { load_content(content); });
}

void SynchronousTrainer::save_content(std::ostream& out) const {
  weights();  // those of a device
  StateStore of_device;
  if (encoder_) encoder_->save_states(of_device);
  learner_.save(out, encoder_ ? of_device : learner_.states());
  put(out, step_);
  put(out, chain_);
  updates_.save(out);
}

void SynchronousTrainer::load_content(std::istream& in) {
  learner_.load(in);
  step_ = get<std::int64_t>(in);
  chain_ = get<std::uint64_t>(in);
  updates_.load(in);
  last_graph_.reset();
  if (!encoder_) return;
  device_update_->upload(weights_, updates_.only());
  encoder_->load_states(learner_.states());
}

}  // namespace gradwire::trainers
