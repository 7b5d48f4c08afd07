#include "engines/mpi/worker.h"

#include <chrono>

#include "engines/part_runner.h"
#include "engines/report_lines.h"
#include "engines/work_list.h"

namespace gradwire::engines {
namespace {

/// Puts progress into the mailbox, five times a second at most.
class Reporter final : public runner::RunObserver {
 public:
  explicit Reporter(Mailbox& reports) : reports_(reports) {}
  void on_progress(const runner::RunProgress& progress) override {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(200)) return;
    last_ = now;
    reports_.put(progress_line(progress));
  }
  void on_forecast(const runner::RunProgress& progress,
                   const runner::PacketForecast& forecast) override {
    reports_.put(forecast_line(progress, forecast));
  }

 private:
  Mailbox& reports_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

void Mailbox::put(std::string text) {
  const std::scoped_lock lock(mutex_);
  texts_.push_back(std::move(text));
  changed_.notify_one();
}

std::optional<std::string> Mailbox::try_take() {
  const std::scoped_lock lock(mutex_);
  if (texts_.empty()) return std::nullopt;
  std::string text = std::move(texts_.front());
  texts_.pop_front();
  return text;
}

std::string Mailbox::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !texts_.empty(); });
  std::string text = std::move(texts_.front());
  texts_.pop_front();
  return text;
}

Worker::Worker(Settings settings, int neighbours, std::string folder, int rank)
    : thread_([this, settings = std::move(settings), neighbours, folder = std::move(folder), rank] {
        try {
          work(settings, neighbours, folder, rank);
        } catch (const std::exception& error) {
          reports_.put(error_line(error));
        }
      }) {}

Worker::~Worker() {
  orders_.put("");
  thread_.join();
}

void Worker::work(const Settings& settings, int neighbours, const std::string& folder, int rank) {
  Reporter reporter(reports_);
  const std::string name = std::to_string(settings.round) + "-" + std::to_string(rank);
  PartRunner runner(settings, neighbours, folder, name, rank, reporter);
  for (std::string order = orders_.take(); !order.empty(); order = orders_.take()) {
    const std::vector<std::string> lines = lines_of(order);
    reports_.put(part_line(runner.run(lines), rank));
  }
}

}  // namespace gradwire::engines
