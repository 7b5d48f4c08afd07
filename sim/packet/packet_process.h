#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/child_process.h"
#include "base/units.h"

namespace gradwire::sim {

/// A running `gradwire-packet` and the conversation with it. Never waits for longer than
/// `wall_limit` without hearing from it: then it is killed and the call fails. A program that ended
/// by itself is reported with its exit status and last words. After either, every call fails with
/// that reason.
class PacketProcess {
 public:
  /// False: stop it.
  using OnProgress = std::function<bool(Seconds now, std::uint64_t events)>;
  PacketProcess(const std::string& program, Seconds wall_limit, OnProgress on_progress);

  /// Sends a request and returns its answer. Throws Error: kCapability before the first answer,
  /// kFailure afterwards, or what the program itself reported. `attempted`: "advance", ...
  nlohmann::json call(const nlohmann::json& request, std::string_view attempted);

  /// The same, and gives what read(answer) makes of it. An answer that it cannot read ends the
  /// program as one that is no frame does.
  template <class Read>
  auto ask(const nlohmann::json& request, std::string_view attempted, Read read) {
    const nlohmann::json answer = call(request, attempted);
    return understood(attempted, [&] { return read(answer); });
  }

 private:
  template <class Read>
  auto understood(std::string_view attempted, Read read) {
    try {
      return read();
    } catch (const nlohmann::json::exception& error) {
      garbled(attempted, error.what());
    } catch (const std::out_of_range& error) {
      garbled(attempted, error.what());
    }
  }
  nlohmann::json receive(std::string_view attempted);
  void note_progress(const nlohmann::json& progress, std::string_view attempted);
  void exchange(std::string_view attempted);
  void write_some();
  void read_some(std::string_view attempted);
  void keep_last_words();
  bool take_frame(nlohmann::json& frame, std::string_view attempted);
  [[noreturn]] void garbled(std::string_view attempted, const std::string& how);
  [[noreturn]] void hung(std::string_view attempted);
  [[noreturn]] void died(std::string_view attempted);
  [[noreturn]] void fail(std::string_view attempted, const std::string& reason);

  std::string program_;
  Seconds wall_limit_;
  OnProgress on_progress_;
  ChildProcess child_;
  std::vector<std::byte> outgoing_;
  std::size_t outgoing_done_ = 0;
  std::vector<std::byte> incoming_;
  std::string last_words_;  ///< end of the program's standard error
  std::string progress_;    ///< its last progress, in words
  std::string dead_;        ///< why it can no longer be used
  bool answered_ = false;
};

}  // namespace gradwire::sim
