#include "engines/mpi/rank.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/file_descriptor.h"
#include "engines/dispatcher.h"
#include "engines/mpi/worker.h"
#include "engines/report_lines.h"
#include "engines/work_list.h"
#include "runner/interrupt.h"

namespace gradwire::engines {
namespace {

/// Between two looks for messages: next to nothing of a processor, and of a batch of runs.
constexpr auto kPause = std::chrono::microseconds(500);

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::vector<std::size_t> given_places(const std::vector<std::string>& lines) {
  std::vector<std::size_t> places;
  for (const std::string& line : lines) places.push_back(label_of(line).place);
  return places;
}

class Leader {
 public:
  Leader(Communicator& communicator, const std::string& folder)
      : communicator_(communicator),
        dispatcher_(lines_of(read_file(folder + "/work")), communicator.size()),
        worker_(settings_from(read_file(folder + "/settings")), communicator.neighbours(), folder,
                communicator.rank()) {}

  void run() {
    print(hello_line(communicator_.size()));
    for (int rank = 0; rank < communicator_.size(); ++rank) give(rank);
    while (!busy_.empty()) {
      bool quiet = true;
      for (; const auto report = worker_.report(); quiet = false) on_report(0, *report);
      for (; const auto message = communicator_.receive(); quiet = false)
        on_report(message->rank, message->text);
      if (!stopped_ && (is_told_to_stop() || runner::interrupted_by() != 0)) stop();
      if (quiet) std::this_thread::sleep_for(kPause);
    }
    for (int rank = 1; rank < communicator_.size(); ++rank) communicator_.send(rank, Tag::kEnd);
  }

 private:
  static void print(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }

  /// Work for an idle rank, as far as there is some.
  void give(int rank) {
    const std::vector<std::string> lines = dispatcher_.next();
    if (lines.empty()) return;
    print(given_line(rank, given_places(lines)));
    busy_.insert(rank);
    if (rank == 0)
      worker_.give(joined(lines));
    else
      communicator_.send(rank, Tag::kWork, joined(lines));
  }

  void on_report(int rank, const std::string& text) {
    print(text);
    const nlohmann::json line = nlohmann::json::parse(text);
    const std::string type = line.at("type");
    if (type != "part" && type != "error") return;
    busy_.erase(rank);
    if (type == "error") return stop();
    dispatcher_.note(line.at("runs").size(), line.at("seconds").get<double>());
    give(rank);
  }

  static bool is_told_to_stop() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return ::poll(&input, 1, 0) > 0;  // a line, or nobody is there any more
  }

  void stop() {
    stopped_ = true;
    dispatcher_.stop();
    runner::interrupt(SIGTERM);
    for (int rank = 1; rank < communicator_.size(); ++rank) communicator_.send(rank, Tag::kStop);
  }

  Communicator& communicator_;
  Dispatcher dispatcher_;
  Worker worker_;
  std::set<int> busy_;
  bool stopped_ = false;
};

}  // namespace

void lead(Communicator& communicator, const std::string& folder) {
  Leader(communicator, folder).run();
}

void follow(Communicator& communicator, const std::string& folder) {
  Worker worker(settings_from(read_file(folder + "/settings")), communicator.neighbours(), folder,
                communicator.rank());
  while (true) {
    bool quiet = true;
    for (; const auto report = worker.report(); quiet = false)
      communicator.send(0, Tag::kReport, *report);
    while (const auto message = communicator.receive()) {
      quiet = false;
      if (message->tag == Tag::kEnd) return;
      if (message->tag == Tag::kStop) runner::interrupt(SIGTERM);
      if (message->tag == Tag::kWork) worker.give(message->text);
    }
    if (quiet) std::this_thread::sleep_for(kPause);
  }
}

}  // namespace gradwire::engines
