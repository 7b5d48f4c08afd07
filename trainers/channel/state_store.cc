#include "trainers/channel/state_store.h"

#include <algorithm>

#include "base/huge_pages.h"
#include "base/serial.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {

std::span<std::byte> StateStore::at(const StateKey& key, std::size_t size) {
  if (size == 0) return {};
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::byte>& state = states_[key];
  if (state.empty()) state = zeros_in_huge_pages<std::byte>(size);
  GRADWIRE_ASSERT(state.size() == size);
  return state;
}

std::size_t StateStore::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::size_t total = 0;
  for (const auto& [key, state] : states_) total += state.size();
  return total;
}

StateStore::Shares StateStore::shares() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::map<std::int32_t, std::int64_t> bytes;
  for (const auto& [key, state] : states_)
    bytes[key.owner] += static_cast<std::int64_t>(state.size());
  Shares shares;
  for (const auto& [owner, own] : bytes)
    if (owner < 0)
      shares.server = own;
    else
      shares.largest = std::max(shares.largest, own);
  return shares;
}

std::vector<std::int32_t> StateStore::owners() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::int32_t> owners;
  for (const auto& [key, state] : states_) {
    if (owners.empty() || owners.back() != key.owner) owners.push_back(key.owner);
  }
  return owners;
}

void StateStore::save(std::ostream& out) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  put<std::uint64_t>(out, states_.size());
  for (const auto& [key, state] : states_) {
    put(out, key.owner);
    put(out, key.tensor);
    put(out, static_cast<std::uint8_t>(key.direction));
    put(out, key.sample);
    put_span(out, std::span<const std::byte>(state));
  }
}

void StateStore::load(std::istream& in) {
  const std::lock_guard<std::mutex> lock(mutex_);
  states_.clear();
  for (auto left = get<std::uint64_t>(in); left > 0; --left) {
    StateKey key;
    key.owner = get<std::int32_t>(in);
    key.tensor = get<std::int32_t>(in);
    key.direction = static_cast<Direction>(get<std::uint8_t>(in));
    key.sample = get<std::int64_t>(in);
    states_[key] = get_vector<std::byte>(in);
  }
}

}  // namespace gradwire::trainers
