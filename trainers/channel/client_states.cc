#include "trainers/channel/client_states.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/serial.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {

ClientStates::ClientStates(std::size_t state_bytes, const StateLimits& limits)
    : state_bytes_(state_bytes), file_(limits.folder, state_bytes, limits.what) {
  most_ = std::numeric_limits<std::size_t>::max();
  if (limits.memory && state_bytes > 0)
    most_ = static_cast<std::size_t>(limits.memory->count()) / state_bytes;
}

void ClientStates::copy(const Entry& entry, std::span<std::byte> state) const {
  if (entry.place < 0)
    std::ranges::copy(entry.state, state.begin());
  else
    file_.read(entry.place, state);
}

void ClientStates::read(int client, std::vector<std::byte>& state) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = entries_.find({client, Kind::kAccepted});
  if (found == entries_.end()) {
    state.assign(state_bytes_, std::byte{0});
    return;
  }
  state.resize(state_bytes_);
  copy(found->second, state);
  // What lies in the file stays there: an accepted proposal is about to replace it.
  if (found->second.place < 0) used_.splice(used_.end(), used_, found->second.used);
}

/// Memory for a state: none yet, or, where there is no more, that of the least recently used one.
std::vector<std::byte> ClientStates::room() {
  if (used_.size() < most_) return {};
  Entry& oldest = entries_.at(used_.front());
  oldest.place = file_.write(oldest.state);
  used_.pop_front();
  return std::exchange(oldest.state, {});
}

std::vector<std::byte> ClientStates::add(const Key& key, std::vector<std::byte> state) {
  GRADWIRE_ASSERT(state.size() == state_bytes_ && !entries_.contains(key));
  if (state.empty()) return state;
  Entry entry;
  if (most_ == 0) {
    entry.place = file_.write(state);
  } else {
    entry.state = std::exchange(state, room());
    entry.used = used_.insert(used_.end(), key);
    most_used_ = std::max(most_used_, used_.size());
  }
  entries_.emplace(key, std::move(entry));
  return state;
}

std::vector<std::byte> ClientStates::propose(int client, std::vector<std::byte> state) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return add({client, Kind::kProposed}, std::move(state));
}

std::vector<std::byte> ClientStates::replace(int client, std::vector<std::byte> state) {
  const std::lock_guard<std::mutex> lock(mutex_);
  GRADWIRE_ASSERT(state.size() == state_bytes_);
  const Key key{client, Kind::kAccepted};
  const auto found = entries_.find(key);
  if (found == entries_.end()) return add(key, std::move(state));
  Entry& entry = found->second;
  if (entry.place < 0) {
    used_.splice(used_.end(), used_, entry.used);
    return std::exchange(entry.state, std::move(state));
  }
  if (most_ == 0) {
    const std::int64_t place = file_.write(state);
    file_.give_back(std::exchange(entry.place, place));
    return state;
  }
  std::vector<std::byte> spare = room();  // may throw: nothing has changed then
  file_.give_back(std::exchange(entry.place, -1));
  entry.state = std::move(state);
  entry.used = used_.insert(used_.end(), key);
  most_used_ = std::max(most_used_, used_.size());
  return spare;
}

void ClientStates::amend(int client, const std::function<void(std::span<std::byte>)>& change) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = entries_.find({client, Kind::kProposed});
  if (found == entries_.end()) return;
  std::vector<std::byte> state(state_bytes_);
  copy(found->second, state);
  change(state);
  if (found->second.place < 0) {
    found->second.state = std::move(state);
    return;
  }
  file_.give_back(found->second.place);
  found->second.place = file_.write(state);
}

void ClientStates::remove(Entries::iterator at) {
  if (at == entries_.end()) return;
  if (at->second.place >= 0)
    file_.give_back(at->second.place);
  else
    used_.erase(at->second.used);
  entries_.erase(at);
}

void ClientStates::accept(int client) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto proposed = entries_.find({client, Kind::kProposed});
  if (proposed == entries_.end()) return;
  remove(entries_.find({client, Kind::kAccepted}));
  auto node = entries_.extract(proposed);
  node.key().second = Kind::kAccepted;
  if (node.mapped().place < 0) *node.mapped().used = node.key();
  entries_.insert(std::move(node));
}

void ClientStates::discard(int client) {
  const std::lock_guard<std::mutex> lock(mutex_);
  remove(entries_.find({client, Kind::kProposed}));
}

bool ClientStates::knows(int client) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return entries_.contains({client, Kind::kAccepted});
}

std::vector<std::int32_t> ClientStates::heard() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::int32_t> heard;
  for (const auto& [key, entry] : entries_)
    if (key.second == Kind::kAccepted) heard.push_back(key.first);
  return heard;
}

ClientStates::Use ClientStates::use() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {static_cast<std::int64_t>(most_used_ * state_bytes_), file_.length().count(),
          static_cast<std::int64_t>(entries_.size() - used_.size())};
}

void ClientStates::save(std::ostream& out) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::byte> state(state_bytes_);
  put<std::uint64_t>(out, state_bytes_);
  put<std::uint64_t>(out, entries_.size());
  for (const auto& [key, entry] : entries_) {
    put(out, key.first);
    put(out, key.second);
    copy(entry, state);
    out.write(reinterpret_cast<const char*>(state.data()),
              static_cast<std::streamsize>(state.size()));
  }
}

void ClientStates::load(std::istream& in) {
  const std::lock_guard<std::mutex> lock(mutex_);
  while (!entries_.empty()) remove(entries_.begin());
  if (get<std::uint64_t>(in) != state_bytes_)
    refuse_checkpoint("what it has of clients or samples has another size");
  std::vector<std::byte> state;
  for (auto left = get<std::uint64_t>(in); left > 0; --left) {
    state.resize(state_bytes_);
    const auto client = get<int>(in);
    const auto kind = get<Kind>(in);
    if (!in.read(reinterpret_cast<char*>(state.data()), static_cast<std::streamsize>(state.size())))
      refuse_checkpoint("it ends too early");
    state = add({client, kind}, std::move(state));
  }
}

}  // namespace gradwire::trainers
