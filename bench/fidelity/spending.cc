#include "bench/fidelity/spending.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "bench/rows/timing.h"

namespace gradwire::bench {
namespace {

constexpr int kLeastRuns = 2;

/// Precondition: not a clean one.
Grouping grouping_of(Job::Kind kind) {
  switch (kind) {
    case Job::Kind::kByChain:
      return Grouping::kByChain;
    case Job::Kind::kByRun:
      return Grouping::kByRun;
    default:
      return Grouping::kPooled;
  }
}

class Spending {
 public:
  Spending(const std::vector<Job>& jobs, const std::string& reference, double limit_s,
           const std::function<void(const Job&)>& done)
      : jobs_(jobs), reference_(reference), end_(now_s() + limit_s), done_(done) {
    order_.resize(jobs.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return jobs[a].events > jobs[b].events; });
    for (const Job& job : jobs)
      random_.push_back(
          job.kind == Job::Kind::kClean
              ? nullptr
              : std::make_unique<RandomCase>(job.c, reference, grouping_of(job.kind)));
    taken_.resize(jobs.size());
  }

  void run() {
    std::thread other([this] { work(); });
    work();
    other.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  void work() {
    try {
      std::unique_lock lock(mutex_);
      for (std::size_t job = next(); job != kNone && !failure_; job = next()) {
        if (random_[job] && !is_over(*random_[job])) spend(job, lock);
        if ((!random_[job] || is_over(*random_[job])) && !taken_[job]) compare(job, lock);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
  }

  /// Whether no more runs are to be made of it, and none is being made that would count.
  bool is_over(const RandomCase& c) const {
    const bool late = now_s() > end_ && c.begun() >= kLeastRuns;
    return c.known() || (late && c.counted() == c.begun());
  }

  /// What to do now; kNone: nothing that anybody else is not about to end.
  std::size_t next() const {
    for (const std::size_t job : order_)
      if (!random_[job] && !taken_[job]) return job;
    std::size_t neediest = kNone;
    double largest = -1;
    for (const std::size_t job : order_) {
      if (!random_[job] || taken_[job]) continue;
      const RandomCase& c = *random_[job];
      if (c.begun() < kLeastRuns || is_over(c)) return job;
      if (now_s() > end_) continue;  // who makes its last run compares it
      if (c.error() > largest) neediest = job, largest = c.error();
    }
    return neediest;
  }

  /// One more run of a random case.
  void spend(std::size_t job, std::unique_lock<std::mutex>& lock) {
    RandomCase& c = *random_[job];
    const int number = c.begin();
    lock.unlock();
    const double start = now_s();
    Pair run;
    std::string failure;
    try {
      run = c.run(number);
    } catch (const ReferenceFailure& error) {
      failure = error.what();
    }
    const double seconds = now_s() - start;
    lock.lock();
    if (failure.empty()) {
      c.end(number, std::move(run), seconds);
    } else if (!taken_[job]) {
      leave_out(job, failure);
    }
  }

  void compare(std::size_t job, std::unique_lock<std::mutex>& lock) {
    taken_[job] = true;
    const RandomCase* const c = random_[job].get();
    lock.unlock();
    std::string failure;
    try {
      *jobs_[job].result = c ? c->compare() : compare_clean(jobs_[job].c, reference_);
    } catch (const ReferenceFailure& error) {
      failure = error.what();
    }
    lock.lock();
    if (failure.empty()) {
      done_(jobs_[job]);
    } else {
      leave_out(job, failure);
    }
  }

  void leave_out(std::size_t job, const std::string& why) {
    taken_[job] = true;
    Comparison left;
    left.name = jobs_[job].c.experiment.name;
    left.not_compared = why;
    *jobs_[job].result = std::move(left);
    done_(jobs_[job]);
  }

  const std::vector<Job>& jobs_;
  const std::string& reference_;
  double end_;  ///< s
  const std::function<void(const Job&)>& done_;
  std::vector<std::size_t> order_;                   ///< of jobs, the longest first
  std::vector<std::unique_ptr<RandomCase>> random_;  ///< by job; null: a clean one
  std::vector<bool> taken_;                          ///< by job: compared, or about to be
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

void run_jobs(const std::vector<Job>& jobs, const std::string& reference, double limit_s,
              const std::function<void(const Job&)>& done) {
  Spending(jobs, reference, limit_s, done).run();
}

}  // namespace gradwire::bench
