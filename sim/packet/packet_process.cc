#include "sim/packet/packet_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "sim/packet/wire_format.h"

namespace gradwire::sim {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kLastWords = 2000;

void make_nonblocking(const FileDescriptor& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

/// Writing to a program that has died must be an error of this call, not a signal to the process.
class SigpipeBlocked {
 public:
  SigpipeBlocked() {
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;
  ~SigpipeBlocked() {
    const timespec none{0, 0};
    const int error = errno;
    if (!was_pending_) ::sigtimedwait(&pipe_, nullptr, &none);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

/// The program's exit code, or 128 + signal; kills it where it does not end within a second.
int ended(ChildProcess& child) {
  for (int i = 0; i < 100; ++i) {
    if (const auto status = child.poll()) return *status;
    ::usleep(10'000);
  }
  child.signal(SIGKILL);
  return child.wait();
}

std::string described(int status) {
  if (status > 128)
    return "it died of signal " + std::to_string(status - 128) + " (" + ::strsignal(status - 128) +
           ")";
  return "it ended with exit code " + std::to_string(status);
}

}  // namespace

PacketProcess::PacketProcess(const std::string& program, Seconds wall_limit, OnProgress on_progress)
    : program_(program),
      wall_limit_(wall_limit),
      on_progress_(std::move(on_progress)),
      child_({program}, ChildProcess::Options{true, true, true}) {
  make_nonblocking(child_.stdin_pipe());
  make_nonblocking(child_.stdout_pipe());
  make_nonblocking(child_.stderr_pipe());
}

json PacketProcess::call(const json& request, std::string_view attempted) {
  if (!dead_.empty()) fail(attempted, dead_);
  outgoing_ = encode_frame(request);
  outgoing_done_ = 0;
  json answer = receive(attempted);
  if (!answer.contains("error")) {
    answered_ = true;
    return answer;
  }
  const auto error = understood(attempted, [&answer] {
    const json& fields = answer["error"];
    const int kind = fields.at("kind");
    if (kind < 0 || kind > static_cast<int>(ErrorKind::kTerminated))
      throw std::out_of_range("an error of kind " + std::to_string(kind));
    return Error(static_cast<ErrorKind>(kind), fields.at("message").get<std::string>());
  });
  answered_ = true;
  throw error;
}

/// The answer; reports of progress come before it.
json PacketProcess::receive(std::string_view attempted) {
  json frame;
  for (;;) {
    if (!take_frame(frame, attempted)) {  // one read may bring a report of progress and the answer
      exchange(attempted);
      continue;
    }
    if (!frame.is_object()) garbled(attempted, "it is no object");
    if (!frame.contains("progress")) return frame;
    note_progress(frame["progress"], attempted);
  }
}

void PacketProcess::note_progress(const json& progress, std::string_view attempted) {
  const auto [now, events] = understood(attempted, [&progress] {
    return std::pair(Seconds(progress.at("now").get<double>()),
                     progress.at("events").get<std::uint64_t>());
  });
  progress_ = "it last reported " + std::to_string(now.value()) + " s of simulated time and " +
              std::to_string(events) + " events";
  if (!on_progress_ || on_progress_(now, events)) return;
  child_.signal(SIGKILL);
  child_.wait();
  fail(attempted, "it was stopped; " + progress_);
}

/// One poll: moves bytes in either direction, or fails after `wall_limit_` without an answer.
void PacketProcess::exchange(std::string_view attempted) {
  const auto limit = std::chrono::duration<double>(wall_limit_.value());
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  for (;;) {
    const bool writing = outgoing_done_ < outgoing_.size();
    pollfd fds[3] = {{child_.stdout_pipe().get(), POLLIN, 0},
                     {child_.stderr_pipe().get(), POLLIN, 0},
                     {writing ? child_.stdin_pipe().get() : -1, POLLOUT, 0}};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left < 0) hung(attempted);
    const int ready = ::poll(fds, 3, static_cast<int>(std::min<long long>(left + 1, 60'000)));
    if (ready < 0 && errno != EINTR) throw system_error("wait for", program_, errno);
    if (ready <= 0) continue;
    if (fds[1].revents) keep_last_words();
    if (fds[2].revents) write_some();
    if (fds[0].revents) return read_some(attempted);
  }
}

void PacketProcess::write_some() {
  const SigpipeBlocked guard;
  const ssize_t written = ::write(child_.stdin_pipe().get(), outgoing_.data() + outgoing_done_,
                                  outgoing_.size() - outgoing_done_);
  if (written >= 0) {
    outgoing_done_ += static_cast<std::size_t>(written);
  } else if (errno == EPIPE) {
    outgoing_done_ = outgoing_.size();  // it reads no more: what it still says tells why
  } else if (errno != EAGAIN && errno != EINTR) {
    throw system_error("write to", program_, errno);
  }
}

void PacketProcess::read_some(std::string_view attempted) {
  std::byte block[65536];
  const ssize_t got = ::read(child_.stdout_pipe().get(), block, sizeof block);
  if (got == 0) died(attempted);
  if (got > 0) incoming_.insert(incoming_.end(), block, block + got);
  if (got < 0 && errno != EAGAIN && errno != EINTR)
    throw system_error("read from", program_, errno);
}

void PacketProcess::keep_last_words() {
  char block[4096];
  if (!child_.stderr_pipe().valid()) return;
  const ssize_t got = ::read(child_.stderr_pipe().get(), block, sizeof block);
  if (got == 0) child_.stderr_pipe().close();
  if (got <= 0) return;
  last_words_.append(block, static_cast<std::size_t>(got));
  if (last_words_.size() > kLastWords) last_words_.erase(0, last_words_.size() - kLastWords);
}

bool PacketProcess::take_frame(json& frame, std::string_view attempted) {
  if (incoming_.size() < 4) return false;
  const std::size_t length = frame_length(incoming_.data());
  if (length >= kLargestFrame) garbled(attempted, "it is no frame");
  if (incoming_.size() < 4 + length) return false;
  const auto* begin = reinterpret_cast<const std::uint8_t*>(incoming_.data()) + 4;
  frame = understood(attempted, [&] { return json::from_cbor(begin, begin + length); });
  incoming_.erase(incoming_.begin(), incoming_.begin() + static_cast<std::ptrdiff_t>(4 + length));
  return true;
}

/// What it says makes no sense: nothing that comes after it would.
void PacketProcess::garbled(std::string_view attempted, const std::string& how) {
  child_.kill_and_reap();
  fail(attempted, "it sent something that cannot be understood: " + how);
}

void PacketProcess::hung(std::string_view attempted) {
  child_.kill_and_reap();
  fail(attempted, "it gave no sign of life for " + format_duration(wall_limit_) +
                      " and was killed" + (progress_.empty() ? "" : "; " + progress_));
}

void PacketProcess::died(std::string_view attempted) {
  const std::string how = described(ended(child_));
  while (child_.stderr_pipe().valid()) {
    const std::size_t before = last_words_.size();
    keep_last_words();
    if (last_words_.size() == before) break;
  }
  fail(attempted, how + (last_words_.empty() ? "" : ", saying: " + last_words_) +
                      (progress_.empty() ? "" : "; " + progress_));
}

void PacketProcess::fail(std::string_view attempted, const std::string& reason) {
  dead_ = reason;
  throw Error(answered_ ? ErrorKind::kFailure : ErrorKind::kCapability,
              std::string(attempted) + " the packet simulation of", program_, reason);
}

}  // namespace gradwire::sim
