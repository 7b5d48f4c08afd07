#include "emulator/hub/relay.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "emulator/exchange/tcp_socket.h"

namespace gradwire::emulator {
namespace {

void append(std::vector<std::byte>& to, const std::vector<std::byte>& bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

Relay::Relay(FileDescriptor from_executor, FileDescriptor to_executor) {
  executor_.in = std::move(from_executor);
  executor_.out = std::move(to_executor);
  make_non_blocking(executor_.out);
}

Relay::End Relay::end_of(std::unique_ptr<ChildProcess> process) {
  End end;
  end.in = std::move(process->stdout_pipe());
  end.out = std::move(process->stdin_pipe());
  end.process = std::move(process);
  make_non_blocking(end.out);
  return end;
}

int Relay::add_worker(std::unique_ptr<ChildProcess> process) {
  workers_.push_back(end_of(std::move(process)));
  return workers() - 1;
}

int Relay::add_worker(FileDescriptor connection) {
  End end;
  end.out = FileDescriptor(::fcntl(connection.get(), F_DUPFD_CLOEXEC, 3));
  end.in = std::move(connection);
  make_non_blocking(end.out);
  workers_.push_back(std::move(end));
  return workers() - 1;
}

void Relay::set_links(std::unique_ptr<ChildProcess> process) {
  links_ = end_of(std::move(process));
}

void Relay::send(End& end, const std::vector<std::byte>& bytes) {
  append(end.unwritten, bytes);
  write_to(end);
}

void Relay::to_executor(const nlohmann::json& message) {
  send(executor_, encode_frame(kExecutor, message));
}

void Relay::to_worker(int worker, const nlohmann::json& message) {
  send(workers_[static_cast<std::size_t>(worker)], encode_frame(worker, message));
}

void Relay::to_links(const nlohmann::json& message) {
  send(links_.value(), encode_frame(kLinks, message));
}

void Relay::hand_on(Frame frame, bool from_executor) {
  const std::vector<std::byte> bytes = encode_frame(frame);
  if (!from_executor && frame.address == kExecutor) return send(executor_, bytes);
  if (frame.address == kLinks) {
    if (links_) send(*links_, bytes);
    return;
  }
  for (int worker = 0; worker < workers(); ++worker)
    if (frame.address == kAllHosts || frame.address == worker)
      send(workers_[static_cast<std::size_t>(worker)], bytes);
}

std::optional<Frame> Relay::take(End& end, bool handing_on, bool from_executor) {
  while (auto frame = end.frames.next()) {
    if (!handing_on || (from_executor && frame->address == kHub)) return frame;
    hand_on(std::move(*frame), from_executor);
  }
  return std::nullopt;
}

void Relay::check_alive(End& end, const std::string& name) {
  if (!end.closed) return;
  throw Error(ErrorKind::kFailure, "go on with", name,
              end.process ? "it ended with code " + std::to_string(end.process->wait())
                          : "its connection has ended");
}

std::optional<Frame> Relay::next(bool handing_on) {
  for (;;) {
    if (auto frame = take(executor_, handing_on, true)) return frame;
    for (End& end : workers_)
      if (auto frame = take(end, handing_on, false)) return frame;
    if (links_)
      if (auto frame = take(*links_, handing_on, false)) return frame;
    if (executor_.closed) return std::nullopt;
    for (std::size_t worker = 0; worker < workers_.size(); ++worker)
      check_alive(workers_[worker], "worker process " + std::to_string(worker));
    if (links_) check_alive(*links_, "the link process");
    poll_once();
  }
}

void Relay::poll_once() {
  std::vector<End*> ends = {&executor_};
  for (End& end : workers_) ends.push_back(&end);
  if (links_) ends.push_back(&*links_);
  std::vector<pollfd> polled;
  for (const End* end : ends) {
    polled.push_back({end->in.get(), POLLIN, 0});
    polled.push_back({end->unwritten.empty() ? -1 : end->out.get(), POLLOUT, 0});
  }
  ::poll(polled.data(), polled.size(), -1);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (polled[2 * i].revents != 0) read_from(*ends[i]);
    if (polled[2 * i + 1].revents != 0) write_to(*ends[i]);
  }
}

void Relay::read_from(End& end) {
  std::byte block[1 << 16];
  std::size_t got = 0;
  try {
    got = end.in.read_some(block, "a control pipe");
  } catch (const Error&) {
    // A machine's connection may end with what we sent still unread.
  }
  end.frames.append(std::span(block, got));
  if (got == 0) end.closed = true;
}

void Relay::write_to(End& end) {
  std::size_t done = 0;
  while (done < end.unwritten.size()) {
    const ssize_t written =
        ::write(end.out.get(), end.unwritten.data() + done, end.unwritten.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) break;
    if (written < 0) {  // the reader is gone: its other pipe says so
      done = end.unwritten.size();
      break;
    }
    done += static_cast<std::size_t>(written);
  }
  end.unwritten.erase(end.unwritten.begin(),
                      end.unwritten.begin() + static_cast<std::ptrdiff_t>(done));
}

void Relay::flush() {
  while (!executor_.unwritten.empty()) {
    pollfd polled{executor_.out.get(), POLLOUT, 0};
    ::poll(&polled, 1, -1);
    write_to(executor_);
  }
}

}  // namespace gradwire::emulator
