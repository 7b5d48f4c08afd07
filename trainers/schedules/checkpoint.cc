#include "trainers/schedules/checkpoint.h"

#include "base/serial.h"
#include "trainers/schedules/block_stream.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"
#include "trainers/trainer_error.h"

/// Saving and loading a synchronous trainer, bit for bit: the learner's part, step, chain hash, the
/// update's rule, steps and state, and the graph that the next step waits for. Batches need
/// nothing: which samples a step sees is a function of the seed.
namespace gradwire::trainers {
namespace {

constexpr std::uint64_t kMagic = 0x35544e5241525447ull;  // "GTRARNT5", little-endian
constexpr std::uint64_t kVersions = 0x00ffffffffffffffull;

[[noreturn]] void refuse(const std::string& reason) {
  throw TrainerError("load", "checkpoint", reason, "start the run afresh");
}

}  // namespace

void save_checked(std::ostream& out, const std::function<void(std::ostream&)>& save) {
  put(out, kMagic);
  BlockWriter blocks(out);
  std::ostream stream(&blocks);
  save(stream);
  blocks.finish();
  if (!out) throw TrainerError("save", "checkpoint", "writing failed", "check the disk's space");
}

void load_checked(std::istream& in, const std::function<void(std::istream&)>& load) {
  const auto magic = get<std::uint64_t>(in);
  if (magic != kMagic && (magic & kVersions) == (kMagic & kVersions))
    refuse("it has version " + std::string(1, static_cast<char>(magic >> 56)) +
           ", and this program reads version 5 alone");
  if (magic != kMagic) refuse("it does not start as one");
  BlockReader blocks(in);
  std::istream stream(&blocks);
  stream.exceptions(std::ios::badbit);  // lets through what the blocks throw
  load(stream);
  if (stream.peek() != std::istream::traits_type::eof())
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
  // A step that is under way is planned again when it is loaded.
  if (const Arrivals::Before* before = arrivals_->before())
    learner_.save(out, before->states, before->statistics);
  else
    learner_.save(out, encoder_ ? of_device : learner_.states(), learner_.statistics());
  put(out, step_);
  put(out, arrivals_->before() ? arrivals_->before()->chain : chain_);
  updates_.save(out);
  put(out, last_graph_.value_or(0));
  put_span(out, std::span<const sim::OpIndex>(last_ends_));
  acts_.save(out);
  arrivals_->save(out);
  for (const std::vector<float>& own : memory_) put_span(out, std::span<const float>(own));
  if (sums_.empty()) return;
  put_span(out, std::span<const float>(sums_));
  put_span(out, std::span<const int>(decided_));
}

void SynchronousTrainer::load_content(std::istream& in) {
  learner_.load(in);
  step_ = get<std::int64_t>(in);
  chain_ = get<std::uint64_t>(in);
  updates_.load(in);
  last_graph_ = get<sim::GraphId>(in);
  if (last_graph_ == 0) last_graph_.reset();
  last_ends_ = get_vector<sim::OpIndex>(in);
  if (gather_) gather_->take(weights_);
  if (encoder_) {
    device_update_->upload(weights_, updates_.only());
    encoder_->load_states(learner_.states());
  }
  acts_.load(in);
  const bool under_way = arrivals_->load(in);
  for (std::vector<float>& own : memory_) get_into(in, std::span<float>(own));
  if (!sums_.empty()) {
    get_into(in, std::span<float>(sums_));
    decided_ = get_vector<int>(in);
  }
  exchange_ = exchange_in(phase_);  // which looks at masks and at what was decided
  if (!sums_.empty() && template_) make_template();
  if (!under_way) return;
  GRADWIRE_ASSERT(template_ != nullptr);  // loaded once times are known
  scenarios::StepPlan plan;
  next(plan);
}

}  // namespace gradwire::trainers
