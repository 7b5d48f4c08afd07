#pragma once
#include <QElapsedTimer>
#include <QJsonObject>
#include <QObject>
#include <QProcess>
#include <QString>

namespace gradwire::gui {

/// The latest progress of one run of a scenario.
struct RunProgress {
  int run = 0;   ///< 0-based within the scenario
  int runs = 0;  ///< of the scenario; 0 = unknown
  QString name, method;
  qint64 seed = 0;
  qint64 step = 0, steps = 0;
  double simulated_s = 0, wall_s = 0, remaining_s = -1;  ///< remaining < 0: unknown
  double loss = 0;
};

/// A scenario running as a child process, `gradwire run FILE --db DB --format jsonl`: the window
/// cannot be blocked or taken down by it. The child leads a process group of its own, so a cancel
/// reaches what it started, and it ends when the window's process does.
class RunProcess : public QObject {
  Q_OBJECT

 public:
  enum class Outcome { kFinished, kFailed, kCancelled };

  explicit RunProcess(QObject* parent = nullptr);
  ~RunProcess() override;

  /// Environment variable GRADWIRE_PROGRAM, else `gradwire` beside this program.
  static QString program();

  /// Does nothing while a scenario runs.
  void start(const QString& scenario, const QString& database);
  /// First call: SIGINT (the run stops after its step and is kept as partial). Again: SIGKILL.
  void cancel();
  /// Stops the run where it is, or lets it go on; cancelling lets it go on to its end.
  void pause(bool on);
  bool paused() const { return paused_; }
  bool running() const { return process_.state() != QProcess::NotRunning; }
  bool cancelling() const { return cancels_ > 0; }

 signals:
  void started(const QString& command);
  void cancel_sent(bool killed);
  void pause_sent(bool on);
  void progressed(const gradwire::gui::RunProgress& progress);
  /// A run is done; its row as the program prints it.
  void run_finished(const QJsonObject& row);
  void summarized(const QJsonObject& summary);
  void error_reported(const QString& message);
  void logged(const QString& line);
  void ended(gradwire::gui::RunProcess::Outcome outcome, const QString& message);

 private:
  void read_output();
  void read_errors();
  void take_line(const QByteArray& line);
  void on_finished(int code, QProcess::ExitStatus status);
  void on_error(QProcess::ProcessError error);
  void signal_group(int number) const;

  QProcess process_;
  QByteArray partial_line_;
  QString last_error_;
  int cancels_ = 0;
  bool paused_ = false;
};

/// Reads one progress line; absent members keep their defaults.
RunProgress progress_of(const QJsonObject& object);

}  // namespace gradwire::gui
