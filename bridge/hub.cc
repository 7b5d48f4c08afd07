#include "bridge/hub.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "bridge/loss.h"

namespace gradwire::bridge {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr auto kGrace = 1500ms;   ///< from SIGTERM to SIGKILL
constexpr auto kSettle = 700ms;   ///< for what other ranks have to say about what went wrong
constexpr auto kFarewells = 1s;   ///< for the end of the rank that another's failure comes from
constexpr auto kAlone = 3000ms;   ///< a launcher's time to end by itself after a rank has died
constexpr auto kGathering = 60s;  ///< for the last rank to connect
constexpr auto kLook = 1000ms;    ///< between looks at processors
constexpr double kAtWork = 0.02;  ///< share of a processor above which a process does something

std::string seconds_text(std::chrono::milliseconds time) {
  return format_duration(Seconds(static_cast<double>(time.count()) / 1e3));
}

}  // namespace

Hub::Hub(HubOptions options)
    : options_(std::move(options)),
      path_(folder_.file("hub")),
      listener_(listen_at(path_)),
      last_told_(Clock::now()),
      last_hello_(last_told_),
      last_at_work_(last_told_),
      last_look_(last_told_) {
  if (std::filesystem::exists(options_.recording))
    throw Error(ErrorKind::kUsage, "write the recording", options_.recording,
                "there is such a file already", "name another one, or remove it");
  file_.open(options_.recording, std::ios::binary);
  if (!file_) throw system_error("write the recording", options_.recording, errno);
}

Hub::~Hub() = default;

void Hub::write(const std::string& line) {
  file_ << line << '\n';
  if (!file_)
    throw Error(ErrorKind::kFailure, "write the recording", options_.recording,
                "the file system takes no more");
}

void Hub::hello(RankLink& link, const json& message) {
  Header header = header_of(message);
  const int rank = message.value("r", -1);
  if (rank < 0 || rank >= header.world)
    throw Error(ErrorKind::kFailure, "accept", "a rank", "its number is not one of its world");
  if (header_ && header.world != header_->world)
    throw Error(ErrorKind::kFailure, "accept", "rank " + std::to_string(rank),
                "it says that there are " + std::to_string(header.world) +
                    " ranks, and others said " + std::to_string(header_->world));
  if (ranks_.contains(rank))
    throw Error(
        ErrorKind::kFailure, "accept", "rank " + std::to_string(rank),
        "there was one before it: restarts of ranks, and several scripts, are not followed");
  if (!header_) {
    if (options_.on_world) options_.on_world(header.world);
    write(to_json(header).dump());
    const int told = header.alike ? 1 : header.world;
    order_ = std::make_unique<Order>(told);
    steps_.resize(static_cast<std::size_t>(told));
    header_ = std::move(header);
  }
  link.rank = rank;
  ranks_[rank] = &link;
  last_hello_ = Clock::now();
}

void Hub::take(RankLink& link, const std::string& line) {
  const json message = json::parse(line);
  const std::string event = message.is_object() ? message.value("e", "") : "";
  if (event == "hello") return hello(link, message);
  if (!link.rank || message.value("r", -1) != *link.rank)
    throw Error(ErrorKind::kFailure, "follow", "a rank", "it has not said who it is");
  const int world = header_->world;
  if (event == "group") {
    const GroupLine group = group_of(message, world);
    if (!header_->alike)
      order_->add_group(group.rank, group.name, group.ranks);
    else if (static_cast<int>(group.ranks.size()) == world)
      order_->add_group(group.rank, group.name, {group.rank});  // it waits for nobody
    else
      throw Error(ErrorKind::kFailure, "follow", "process group " + group.name,
                  "it has " + std::to_string(group.ranks.size()) + " of " + std::to_string(world) +
                      " ranks, and what others do that are not in it is not known",
                  "run all ranks");
  } else {
    const Event next = event_of(message, world);
    if (next.kind == Event::Kind::kEnd) link.blocked_on = order_->blocked_on(next.rank);
    order_->add(next);
    calls_ += next.kind == Event::Kind::kCall;
    steps_[static_cast<std::size_t>(next.rank)] += next.kind == Event::Kind::kStep;
    if (next.kind == Event::Kind::kEnd) {
      link.ended = true;
      link.ended_at = Clock::now();
      link.failure = next.failure;
    }
  }
  write(line);
}

void Hub::read(RankLink& link) {
  try {
    const auto lines = link.read_lines();
    if (!lines.empty()) last_told_ = Clock::now();
    for (const std::string& line : lines)
      if (broken_.empty()) take(link, line);
  } catch (const json::exception& error) {
    broken_ = "process " + std::to_string(link.process()) +
              " told what no rank tells: " + std::string(error.what());
  } catch (const Error& error) {
    broken_ = error.what();
  }
}

/// Whether a connection was found closed.
bool Hub::listen_once(int milliseconds) {
  links_.remove_if([](const RankLink& link) { return link.closed() && !link.rank; });
  std::vector<pollfd> waits = {{listener_.get(), POLLIN, 0}};
  std::vector<RankLink*> open;
  for (RankLink& link : links_)
    if (!link.closed()) {
      waits.push_back({link.descriptor(), POLLIN, 0});
      open.push_back(&link);
    }
  if (::poll(waits.data(), waits.size(), milliseconds) <= 0) return false;
  bool closed = false;
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (waits[i + 1].revents != 0) read(*open[i]);
    if (!open[i]->closed()) continue;
    open[i]->closed_in = listened_;
    closed = true;
  }
  if (waits[0].revents != 0)
    while (auto socket = accept_at(listener_)) links_.emplace_back(std::move(*socket));
  return closed;
}

void Hub::listen(int milliseconds) {
  ++listened_;
  // One closed later may have been found first: the connections are asked one after the other.
  for (bool closed = listen_once(milliseconds); closed;) closed = listen_once(0);
  file_.flush();
}

bool Hub::lives(int rank) const {
  const auto found = ranks_.find(rank);
  return found != ranks_.end() && !found->second->closed() && !found->second->ended;
}

std::int64_t Hub::steps() const {
  return steps_.empty() ? 0 : *std::ranges::min_element(steps_);
}

std::string Hub::conflict() {
  if (!order_ || !order_->conflict()) return {};
  if (!conflict_seen_) conflict_seen_ = Clock::now();
  const bool all = order_->operations()[*order_->conflict()].complete();
  if (!all && Clock::now() - *conflict_seen_ < kSettle) return {};
  return order_->describe_conflict();
}

/// Workers that a rank has forked hold its connection after its death.
void Hub::close_links_of_gone() {
  const auto there = uses_of_living();
  std::vector<RankLink*> gone;
  for (const auto& [rank, link] : ranks_)
    if (lives(rank) && link->process() > 0 && !there.contains(link->process()))
      gone.push_back(link);
  listen(0);  // what they told before
  for (RankLink* link : gone)
    if (!link->closed() && !link->ended) {
      link->close();
      link->closed_in = listened_;
    }
}

/// Who was lost, once others have had time to be: a victim's exception may come first.
std::string Hub::lost_rank() {
  if (std::ranges::none_of(ranks_, [](const auto& r) { return is_lost(*r.second); })) return {};
  if (!lost_seen_) lost_seen_ = Clock::now();
  close_links_of_gone();
  if (Clock::now() - *lost_seen_ < kFarewells) return {};
  const std::string waits = who_waits();
  return describe_loss(ranks_, *order_) + (waits.empty() ? "" : "; " + waits);
}

/// Somebody waits for a rank whose script is through.
std::string Hub::ended_early() const {
  if (!order_ || Clock::now() - last_told_ < kSettle) return {};
  for (const auto& [rank, link] : ranks_) {
    const auto operation = lives(rank) ? order_->blocked_on(rank) : std::nullopt;
    if (!operation) continue;
    for (const int other : order_->operations()[*operation].missing()) {
      const auto found = ranks_.find(other);
      if (found == ranks_.end() || !found->second->ended) continue;
      return "rank " + std::to_string(other) + " is through with its script " +
             last_words(*order_, other) + ", but " + who_waits();
    }
  }
  return {};
}

std::string Hub::who_waits() const {
  std::string text;
  for (const auto& [rank, link] : ranks_) {
    const auto operation = lives(rank) ? order_->blocked_on(rank) : std::nullopt;
    if (!operation) continue;
    text += (text.empty() ? "rank " : "; rank ") + std::to_string(rank) + " waits for " +
            ranks_text(order_->operations()[*operation].missing()) + " " +
            last_words(*order_, rank);
  }
  return text;
}

std::map<pid_t, ProcessUse> Hub::uses_of_living() const {
  std::vector<pid_t> processes;
  for (const auto& [rank, link] : ranks_)
    if (lives(rank)) processes.push_back(link->process());
  return process_uses(processes);
}

/// Whether a rank that waits for nobody has used a processor since the last look.
bool Hub::somebody_works() {
  const auto now = Clock::now();
  const double elapsed = std::chrono::duration<double>(now - last_look_).count();
  bool works = false;
  const auto uses = uses_of_living();
  for (const auto& [rank, link] : ranks_) {
    const auto use = uses.find(link->process());
    if (!lives(rank) || use == uses.end()) continue;
    const auto before = cpu_.find(rank);
    const bool busy =
        before == cpu_.end() || (use->second.cpu - before->second).value() > kAtWork * elapsed;
    cpu_[rank] = use->second.cpu;
    works = works || (busy && !order_->blocked_on(rank));
  }
  last_look_ = now;
  return works;
}

std::string Hub::standstill() {
  const auto now = Clock::now();
  const bool anybody = std::ranges::any_of(ranks_, [&](const auto& r) { return lives(r.first); });
  if (!anybody || now - last_told_ < kLook || now - last_look_ < kLook) return {};
  if (somebody_works()) last_at_work_ = now;
  if (now - std::max(last_told_, last_at_work_) < options_.patience) return {};
  std::string culprits;
  const auto uses = uses_of_living();
  for (const auto& [rank, link] : ranks_) {
    if (!lives(rank) || order_->blocked_on(rank)) continue;
    const auto use = uses.find(link->process());
    const bool stopped = use != uses.end() && use->second.stopped;
    culprits += (culprits.empty() ? "rank " : "; rank ") + std::to_string(rank) +
                (stopped ? " is stopped " : " does nothing ") + last_words(*order_, rank);
  }
  const std::string waits = who_waits();
  return "nothing has happened for " + seconds_text(options_.patience) + ": " +
         (culprits.empty() ? "all wait for each other" : culprits) +
         (waits.empty() ? "" : "; " + waits) +
         " (if this is as it should be, --patience gives them longer)";
}

std::string Hub::absent_ranks() const {
  if (!header_ || header_->alike || static_cast<int>(ranks_.size()) == header_->world) return {};
  if (Clock::now() - std::max(last_hello_, last_told_) < kGathering) return {};
  std::vector<int> absent;
  for (int rank = 0; rank < header_->world; ++rank)
    if (!ranks_.contains(rank)) absent.push_back(rank);
  return ranks_text(absent) + " never made a process group, and the others wait";
}

std::string Hub::problem() {
  if (!broken_.empty()) return broken_;
  std::string found = conflict();
  if (!found.empty() || conflict_seen_) return found;
  found = lost_rank();
  if (!found.empty() || lost_seen_) return found;
  found = ended_early();
  if (found.empty()) found = standstill();
  if (!found.empty()) return found;
  return absent_ranks();
}

HubReport Hub::report(int exit_code) const {
  HubReport report;
  report.exit_code = exit_code;
  report.ranks = static_cast<int>(ranks_.size());
  report.calls = calls_;
  report.steps = steps();
  return report;
}

HubReport Hub::run(const std::vector<std::string>& command) {
  const FamilyKeeper family;
  ChildProcess child(command, {});
  std::string wrong;
  bool interrupted = false;
  std::optional<Clock::time_point> over;
  while (wrong.empty() && !interrupted) {
    listen(100);
    if (options_.on_progress) options_.on_progress(steps(), calls_);
    interrupted = options_.interrupted && options_.interrupted();
    wrong = problem();
    if (!over && child.poll()) over = Clock::now();
    const bool quiet = std::ranges::all_of(links_, &RankLink::closed);
    const bool settled = !conflict_seen_ && !lost_seen_;
    if (over && settled && (quiet || Clock::now() - *over > kSettle)) break;
  }
  // A launcher that notices by itself that a rank has died says more about it than we can.
  for (const auto begun = Clock::now();
       lost_seen_ && !child.poll() && Clock::now() - begun < kAlone;)
    listen(50);
  family.end_all(interrupted ? 5 * kGrace : kGrace, child.pid());
  listen(0);
  HubReport result = report(child.wait());
  result.problem = interrupted ? std::string() : wrong;
  result.interrupted = interrupted;
  return result;
}

}  // namespace gradwire::bridge
