#include "emulator/lab/lab_transfers.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "emulator/clock.h"
#include "emulator/exchange/tcp_socket.h"
#include "emulator/shaper/kernel_stamp.h"
#include "emulator/shaper/link_plan.h"

namespace gradwire::emulator {
namespace {

constexpr int kFirstPort = 7700;
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr int kOpeningLimit = 30'000;  // ms
constexpr std::size_t kBlock = 1 << 20;

/// What is sent: nobody looks at it.
const std::array<std::byte, kBlock>& block() {
  static const std::array<std::byte, kBlock> zeros{};
  return zeros;
}

/// CLOCK_MONOTONIC, s: when the last segment of what was read arrived.
double arrival_of(const msghdr& message) {
  const double stamp = stamp_of(message);
  const double now = monotonic_now().value();
  return stamp > 0 ? std::min(now, stamp - realtime_offset()) : now;
}

/// Throws away in the kernel (MSG_TRUNC) what `socket` has, up to so many bytes. 0: nothing there.
std::int64_t take(const FileDescriptor& socket, std::size_t most, double& arrival) {
  char control[64];
  iovec part{nullptr, most};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  for (;;) {
    const ssize_t got = ::recvmsg(socket.get(), &message, MSG_DONTWAIT | MSG_TRUNC);
    if (got > 0) arrival = arrival_of(message);
    if (got > 0) return got;
    if (got < 0 && errno == EAGAIN) return 0;
    if (got == 0 || errno != EINTR)
      throw system_error("receive on", "a connection of the lab", got < 0 ? errno : EPIPE);
  }
}

}  // namespace

LabTransfers::LabTransfers(const LabPlan& plan, const LabHosts& hosts)
    : plan_(plan), transfers_(plan.chains.size()) {
  int port = kFirstPort;
  for (const LabChain& chain : plan.chains) open(chain, port++, hosts);
  hosts.enter_hub();
}

void LabTransfers::open(const LabChain& chain, int port, const LabHosts& hosts) {
  SocketSettings settings{plan_.congestion_control, 0, port};
  hosts.enter(chain.destination);
  const FileDescriptor listener = listen_on(settings);
  hosts.enter(chain.source);
  Chain opened;
  opened.sender = connect_to_address(host_address(chain.destination), settings);
  pollfd polled{listener.get(), POLLIN, 0};
  ::poll(&polled, 1, kOpeningLimit);
  opened.receiver = accept_from(listener, settings);
  if (opened.receiver.valid()) stamp_arrivals(opened.receiver.get());
  if (!opened.receiver.valid())
    throw Error(ErrorKind::kFailure, "open", "a connection of the lab", "nobody called");
  chains_.push_back(std::move(opened));
}

void LabTransfers::run(std::function<double()> take_worst) {
  take_worst_ = std::move(take_worst);
  const double limit = monotonic_now().value() + plan_.limit.value();
  for (Chain& chain : chains_) chain.next_start = monotonic_now().value();
  for (;;) {
    const double now = monotonic_now().value();
    start_due(now);
    const bool done =
        std::all_of(chains_.begin(), chains_.end(), [this](const Chain& c) { return is_done(c); });
    if (done || now >= limit) return;
    double next = limit;
    for (const Chain& chain : chains_)
      if (!chain.running && !is_done(chain)) next = std::min(next, chain.next_start);
    wait(next);
  }
}

bool LabTransfers::any_runs() const {
  return std::any_of(chains_.begin(), chains_.end(), [](const Chain& c) { return c.running; });
}

void LabTransfers::start_due(double now) {
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    const Chain& chain = chains_[c];
    if (!chain.running && !is_done(chain) && chain.next_start <= now) start(c, now);
  }
}

void LabTransfers::start(std::size_t c, double) {
  Chain& chain = chains_[c];
  if (!any_runs()) take_worst_();  // what was late in between does not count
  ++chain.repeat;
  chain.running = true;
  chain.unwritten = chain.unread = plan_.chains[c].bytes.count();
  transfers_[c].push_back({monotonic_now().value(), -1});
  write(chain);
}

void LabTransfers::write(Chain& chain) const {
  while (chain.unwritten > 0) {
    const auto most = std::min<std::int64_t>(chain.unwritten, kBlock);
    const ssize_t sent = ::send(chain.sender.get(), block().data(), static_cast<std::size_t>(most),
                                MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) throw system_error("send on", "a connection of the lab", errno);
    chain.unwritten -= sent;
  }
}

/// A stamp is that of the last segment read. Segments behind a gap are older than the one that
/// fills it, and all are read at once then: that one is the first, so a byte is read alone.
void LabTransfers::read(std::size_t c) {
  Chain& chain = chains_[c];
  double arrival = 0;
  for (std::size_t most = 1;; most = kBlock) {
    const std::int64_t got = take(chain.receiver, most, arrival);
    if (got == 0) return;
    chain.unread -= got;
    chain.arrival = std::max(chain.arrival, arrival);
    if (chain.running && chain.unread == 0) end(c, chain.arrival);
  }
}

void LabTransfers::end(std::size_t c, double arrival) {
  Chain& chain = chains_[c];
  const double now = monotonic_now().value();
  transfers_[c].back().end = arrival;
  chain.running = false;
  chain.next_start = now + plan_.gap.value();
  const bool all = !any_runs();
  if (all && (plan_.together || chains_.size() == 1)) late_in_.push_back(take_worst_());
  if (!plan_.together) return;
  for (Chain& other : chains_) other.next_start = all ? now + plan_.gap.value() : kNever;
}

/// Until something can be read or written, or `until`.
void LabTransfers::wait(double until) {
  std::vector<pollfd> polled;
  for (const Chain& chain : chains_) {
    polled.push_back({chain.receiver.get(), POLLIN, 0});
    polled.push_back({chain.unwritten > 0 ? chain.sender.get() : -1, POLLOUT, 0});
  }
  const double rest = std::max(0.0, until - monotonic_now().value());
  timespec time{};
  time.tv_sec = static_cast<time_t>(rest);
  time.tv_nsec = static_cast<long>((rest - std::floor(rest)) * 1e9);
  if (::ppoll(polled.data(), polled.size(), &time, nullptr) <= 0) return;
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    if (polled[2 * c].revents != 0) read(c);
    if (polled[2 * c + 1].revents != 0) write(chains_[c]);
  }
}

std::vector<std::int64_t> LabTransfers::retransmissions() const {
  std::vector<std::int64_t> counts;
  for (const Chain& chain : chains_) counts.push_back(counters_of(chain.sender).retransmissions);
  return counts;
}

}  // namespace gradwire::emulator
