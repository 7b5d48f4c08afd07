#include <QThread>
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "bench/gui/figures.h"

namespace gradwire::bench {

namespace {

/// Of this thread alone: what other programs take meanwhile is not the window's. It waits for
/// nothing but its events: what is slow is on other threads.
double window_clock_ms() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

}  // namespace

double milliseconds_of(const std::function<void()>& work) {
  const double start = window_clock_ms();
  work();
  return window_clock_ms() - start;
}

bool WatchedApplication::notify(QObject* receiver, QEvent* event) {
  // Other threads' events pass here as well; events within an event are parts of it.
  if (QThread::currentThread() != thread() || depth_ > 0)
    return QApplication::notify(receiver, event);
  ++depth_;
  bool taken = false;
  longest_ms_ = std::max(longest_ms_,
                         milliseconds_of([&] { taken = QApplication::notify(receiver, event); }));
  --depth_;
  return taken;
}

double WatchedApplication::longest_while(const std::function<void()>& work,
                                         const std::function<bool()>& done) {
  longest_ms_ = 0;
  // What a key or a click does is an event's work as well.
  longest_ms_ = milliseconds_of(work);
  while (!done()) processEvents(QEventLoop::WaitForMoreEvents, 20);
  // What it set off for later: timers of no delay, and the painting.
  for (int i = 0; i < 20; ++i) processEvents(QEventLoop::AllEvents, 20);
  return longest_ms_;
}

}  // namespace gradwire::bench

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  gradwire::bench::WatchedApplication application(argc, argv);
  for (const auto& figures : {gradwire::bench::timeline_figures(), gradwire::bench::panel_figures(),
                              gradwire::bench::window_figures(application)}) {
    for (const auto& [name, value] : figures) std::printf("%s %.9g\n", name.c_str(), value);
  }
  return 0;
}
