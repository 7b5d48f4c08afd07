#include "emulator/exchange/exchange.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "emulator/clock.h"
#include "emulator/exchange/exchange_state.h"

namespace gradwire::emulator {

using sim::HopTransfer;
using sim::WireMessage;

namespace {

/// Writes what the kernel takes; true when the message is out.
bool write_part(const FileDescriptor& socket, UnsentMessage& unsent) {
  constexpr std::size_t kHeader = sizeof(MessageHeader);
  while (unsent.done < kHeader + unsent.payload.size()) {
    const std::size_t head = std::min(unsent.done, kHeader);
    const auto body = unsent.payload.subspan(unsent.done - head);
    iovec parts[2] = {{reinterpret_cast<std::byte*>(&unsent.header) + head, kHeader - head},
                      {const_cast<std::byte*>(body.data()), body.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t written = ::sendmsg(socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return false;
    if (written < 0) throw system_error("send to", "another worker", errno);
    unsent.done += static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace

Exchange::Exchange(int host, std::vector<PeerAddress> peers, const SocketSettings& settings,
                   OnMessage on_message, OnFailure on_failure, const PayloadReader* payloads)
    : host_(host),
      peers_(std::move(peers)),
      settings_(settings),
      on_message_(std::move(on_message)),
      on_failure_(std::move(on_failure)),
      payloads_(payloads),
      listener_(listen_on(settings)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_.valid()) throw system_error("create", "an event descriptor", errno);
  thread_ = std::thread([this] { background(); });
}

Exchange::~Exchange() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  poke();
  thread_.join();
}

int Exchange::port() const {
  return port_of(listener_);
}

std::string Exchange::congestion_control() const {
  return congestion_control_of(listener_);
}

void Exchange::connect_to(int host) {
  {
    const std::lock_guard lock(mutex_);
    if (outgoing_.contains(host)) return;
  }
  auto outgoing = std::make_unique<Outgoing>();
  const PeerAddress& peer = peers_[static_cast<std::size_t>(host)];
  SocketSettings settings = settings_;
  settings.port = peer.port;
  outgoing->socket = connect_to_address(peer.address, settings);
  const std::lock_guard lock(mutex_);
  MessageHeader hello;
  hello.kind = MessageKind::kHello;
  hello.source_host = host_;
  Outgoing& connection = *(outgoing_[host] = std::move(outgoing));
  enqueue(connection, hello, {});
}

void Exchange::send(int to_host, GraphId graph, OpIndex op, const HopTransfer& hop,
                    std::span<const std::byte> payload, std::optional<std::uint32_t> row) {
  connect_to(to_host);
  const std::lock_guard lock(mutex_);
  MessageHeader header;
  header.kind = MessageKind::kData;
  header.source_host = host_;
  header.graph = graph;
  header.op = op;
  header.hop = hop;
  header.payload = row ? *row + 1 : 0;
  enqueue(outgoing_to(to_host), header, payload);
}

void Exchange::enqueue(Outgoing& outgoing, const MessageHeader& header,
                       std::span<const std::byte> payload) {
  outgoing.queue.push_back({header, payload, 0});
  if (header.kind == MessageKind::kData) ++unsent_[{header.graph, header.op}];
  if (outgoing.queue.size() == 1) write_some(outgoing);
  if (!outgoing.queue.empty() && driven_) poke();
}

WireMessage Exchange::receive(GraphId graph, OpIndex op) {
  Lock lock(mutex_);
  const Key key{graph, op};
  wait_for(lock, [&] { return inbox_.contains(key) || cancelled_.contains(graph); });
  const auto found = inbox_.find(key);
  if (found == inbox_.end()) throw Cancelled{};
  WireMessage message = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) inbox_.erase(found);
  return message;
}

void Exchange::flush(GraphId graph, OpIndex op) {
  Lock lock(mutex_);
  wait_for(lock, [&] { return !unsent_.contains({graph, op}); });
}

void Exchange::cancel(GraphId graph) {
  const std::lock_guard lock(mutex_);
  cancelled_.insert(graph);
  std::erase_if(inbox_, [&](const auto& item) { return item.first.first == graph; });
  changed_.notify_all();
  poke();
}

bool Exchange::has_message(GraphId graph, OpIndex op) {
  const std::lock_guard lock(mutex_);
  return inbox_.contains({graph, op});
}

Seconds Exchange::ping(int host) {
  connect_to(host);
  const Foreground foreground(*this);
  Lock lock(mutex_);
  const std::uint64_t before = pongs_;
  MessageHeader header;
  header.kind = MessageKind::kPing;
  header.source_host = host_;
  const Seconds start = monotonic_now();
  enqueue(outgoing_to(host), header, {});
  wait_for(lock, [&] { return pongs_ != before; });
  return monotonic_now() - start;
}

std::int64_t Exchange::take_retransmissions(int host) {
  const std::lock_guard lock(mutex_);
  Outgoing& outgoing = outgoing_to(host);
  const std::int64_t now = counters_of(outgoing.socket).retransmissions;
  return now - std::exchange(outgoing.retransmissions_told, now);
}

std::vector<ConnectionCounters> Exchange::counters() {
  const std::lock_guard lock(mutex_);
  std::vector<ConnectionCounters> list;
  for (const auto& [host, outgoing] : outgoing_)
    list.push_back({host, counters_of(outgoing->socket)});
  return list;
}

Exchange::Foreground::Foreground(Exchange& exchange) : exchange_(exchange) {
  const std::lock_guard lock(exchange_.mutex_);
  if (exchange_.foreground_++ == 0) exchange_.poke();
}

Exchange::Foreground::~Foreground() {
  const std::lock_guard lock(exchange_.mutex_);
  if (--exchange_.foreground_ == 0) exchange_.changed_.notify_all();
}

Exchange::Outgoing& Exchange::outgoing_to(int host) {
  const auto found = outgoing_.find(host);
  GRADWIRE_ASSERT(found != outgoing_.end());
  return *found->second;
}

void Exchange::poke() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(wake_.get(), &one, sizeof one);
}

template <typename Condition>
void Exchange::wait_for(Lock& lock, Condition condition) {
  while (!condition()) {
    if (failure_) std::rethrow_exception(failure_);
    if (driven_) {
      changed_.wait(lock);
      continue;
    }
    driven_ = true;
    while (!condition() && !failure_) poll_once(lock);
    driven_ = false;
    changed_.notify_all();
  }
}

void Exchange::background() {
  Lock lock(mutex_);
  while (!stop_ && !failure_) {
    if (driven_ || foreground_ > 0) {
      changed_.wait(lock);
      continue;
    }
    driven_ = true;
    while (!stop_ && !failure_ && foreground_ == 0) poll_once(lock);
    driven_ = false;
    changed_.notify_all();
  }
}

void Exchange::poll_once(Lock& lock) {
  // Only the driving thread adds to incoming_, so that the pointers stay good while it polls.
  std::vector<pollfd> polled = {{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
  for (const auto& incoming : incoming_) polled.push_back({incoming->socket.get(), POLLIN, 0});
  std::vector<Outgoing*> waiting;
  for (const auto& [host, outgoing] : outgoing_) {
    if (outgoing->queue.empty()) continue;
    waiting.push_back(outgoing.get());
    polled.push_back({outgoing->socket.get(), POLLOUT, 0});
  }
  lock.unlock();
  ::poll(polled.data(), polled.size(), -1);
  lock.lock();
  try {
    std::uint64_t count = 0;
    if (polled[0].revents != 0 && ::read(wake_.get(), &count, sizeof count) < 0) count = 0;
    const std::size_t old = polled.size() - 2 - waiting.size();
    for (std::size_t i = 0; i < old; ++i)
      if (polled[2 + i].revents != 0) read_some(*incoming_[i]);
    for (std::size_t i = 0; i < waiting.size(); ++i)
      if (polled[2 + old + i].revents != 0) write_some(*waiting[i]);
    if (polled[1].revents != 0) accept_one();
    std::erase_if(incoming_, [](const auto& incoming) { return !incoming->socket.valid(); });
  } catch (const std::exception& error) {
    failure_ = std::current_exception();
    changed_.notify_all();
    on_failure_(error);
  }
}

void Exchange::accept_one() {
  auto incoming = std::make_unique<Incoming>();
  incoming->socket = accept_from(listener_, settings_);
  if (incoming->socket.valid()) incoming_.push_back(std::move(incoming));
}

void Exchange::write_some(Outgoing& outgoing) {
  while (!outgoing.queue.empty()) {
    UnsentMessage& unsent = outgoing.queue.front();
    if (!write_part(outgoing.socket, unsent)) return;
    const Key key{unsent.header.graph, unsent.header.op};
    if (unsent.header.kind == MessageKind::kData && --unsent_[key] == 0) {
      unsent_.erase(key);
      changed_.notify_all();
    }
    outgoing.queue.pop_front();
  }
}

}  // namespace gradwire::emulator
