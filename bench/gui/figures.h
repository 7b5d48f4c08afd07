#pragma once
#include <QApplication>
#include <functional>
#include <string>
#include <vector>

/// What gradwire-bench-gui measures, each on a window of its own.
namespace gradwire::bench {

struct GuiFigure {
  std::string name;  ///< of a row of `gradwire bench gui`
  double value = 0;
};

/// Remembers how long the longest event took since it was last asked: so long the window did not
/// answer.
class WatchedApplication : public QApplication {
 public:
  using QApplication::QApplication;
  bool notify(QObject* receiver, QEvent* event) override;
  /// Milliseconds of the longest event while `work` runs and until `done`.
  double longest_while(const std::function<void()>& work, const std::function<bool()>& done);

 private:
  double longest_ms_ = 0;
  int depth_ = 0;
};

double milliseconds_of(const std::function<void()>& work);

std::vector<GuiFigure> window_figures(WatchedApplication& application);
std::vector<GuiFigure> timeline_figures();
/// The network's map, the closed form's answer, and a run that is cancelled.
std::vector<GuiFigure> panel_figures();

}  // namespace gradwire::bench
