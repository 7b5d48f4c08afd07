#include "gui/jobs/run_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <QFileInfo>
#include <QJsonDocument>

#include "base/child_process.h"

namespace gradwire::gui {

namespace {
/// A child that never ends its line is shown in pieces rather than kept in memory.
constexpr qsizetype kLongestLine = 1 << 20;
constexpr int kKillWaitMs = 1000;
}  // namespace

RunProgress progress_of(const QJsonObject& object) {
  RunProgress progress;
  progress.run = object["run"].toInt();
  progress.runs = object["runs"].toInt();
  progress.name = object["name"].toString();
  progress.method = object["method"].toString();
  progress.seed = object["seed"].toInteger();
  progress.step = object["step"].toInteger();
  progress.steps = object["steps"].toInteger();
  progress.simulated_s = object["simulated_s"].toDouble();
  progress.wall_s = object["wall_s"].toDouble();
  progress.remaining_s = object["remaining_s"].toDouble(-1);
  progress.loss = object["loss"].toDouble();
  return progress;
}

RunProcess::RunProcess(QObject* parent) : QObject(parent) {
  process_.setChildProcessModifier([] {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  });
  connect(&process_, &QProcess::readyReadStandardOutput, this, &RunProcess::read_output);
  connect(&process_, &QProcess::readyReadStandardError, this, &RunProcess::read_errors);
  connect(&process_, &QProcess::finished, this, &RunProcess::on_finished);
  connect(&process_, &QProcess::errorOccurred, this, &RunProcess::on_error);
}

RunProcess::~RunProcess() {
  process_.disconnect(this);
  if (!running()) return;
  signal_group(SIGKILL);
  process_.waitForFinished(kKillWaitMs);
}

QString RunProcess::program() {
  const QString named = qEnvironmentVariable("GRADWIRE_PROGRAM");
  return named.isEmpty() ? QString::fromStdString(executable_folder() + "/gradwire") : named;
}

void RunProcess::start(const QString& scenario, const QString& database) {
  if (running()) return;
  cancels_ = 0;
  paused_ = false;
  partial_line_.clear();
  last_error_.clear();
  const QStringList arguments{"run", scenario, "--db", database, "--format", "jsonl"};
  process_.start(program(), arguments);
  emit started(QFileInfo(program()).fileName() + " " + arguments.join(' '));
}

void RunProcess::signal_group(int number) const {
  const auto pid = static_cast<pid_t>(process_.processId());
  if (pid <= 0) return;
  // A child of this moment does not lead its group yet; it has started nothing either.
  if (::kill(-pid, number) != 0) ::kill(pid, number);
}

void RunProcess::pause(bool on) {
  if (!running() || on == paused_) return;
  signal_group(on ? SIGSTOP : SIGCONT);
  paused_ = on;
  emit pause_sent(on);
}

void RunProcess::cancel() {
  if (!running()) return;
  pause(false);
  const bool killed = cancels_++ > 0;
  signal_group(killed ? SIGKILL : SIGINT);
  emit cancel_sent(killed);
}

void RunProcess::read_output() {
  partial_line_ += process_.readAllStandardOutput();
  qsizetype begin = 0;
  for (qsizetype end; (end = partial_line_.indexOf('\n', begin)) >= 0; begin = end + 1) {
    take_line(partial_line_.mid(begin, end - begin));
  }
  partial_line_.remove(0, begin);
  if (partial_line_.size() > kLongestLine) take_line(std::exchange(partial_line_, {}));
}

void RunProcess::read_errors() {
  for (const QByteArray& line : process_.readAllStandardError().split('\n')) {
    if (!line.trimmed().isEmpty()) emit logged(QString::fromUtf8(line));
  }
}

void RunProcess::take_line(const QByteArray& line) {
  if (line.trimmed().isEmpty()) return;
  const QJsonObject object = QJsonDocument::fromJson(line).object();
  const QString type = object["type"].toString();
  if (type == "progress") {
    emit progressed(progress_of(object));
  } else if (type == "run") {
    emit run_finished(object);
  } else if (type == "summary") {
    emit summarized(object);
  } else if (type == "error") {
    last_error_ = object["message"].toString();
    emit error_reported(last_error_);
  } else {
    emit logged(QString::fromUtf8(line));
  }
}

void RunProcess::on_finished(int code, QProcess::ExitStatus status) {
  read_output();
  read_errors();
  if (!partial_line_.isEmpty()) take_line(std::exchange(partial_line_, {}));
  if (cancels_ > 0) {
    emit ended(Outcome::kCancelled, "Cancelled; what was done is kept as a partial run.");
  } else if (status == QProcess::CrashExit) {
    emit ended(Outcome::kFailed, QString("The run ended by a signal. %1").arg(last_error_));
  } else if (code == 0) {
    emit ended(Outcome::kFinished, "All runs finished.");
  } else if (constexpr int kSomeFailed = 4; code == kSomeFailed) {
    emit ended(Outcome::kFinished, "Finished, but some runs failed or diverged: see their rows.");
  } else {
    const QString reason = last_error_.isEmpty() ? QString("see the log") : last_error_;
    emit ended(Outcome::kFailed,
               QString("The run failed (exit code %1): %2").arg(code).arg(reason));
  }
}

void RunProcess::on_error(QProcess::ProcessError error) {
  if (error != QProcess::FailedToStart) return;
  emit ended(Outcome::kFailed,
             QString("Cannot start %1: %2; set GRADWIRE_PROGRAM to the gradwire program.")
                 .arg(program(), process_.errorString()));
}

}  // namespace gradwire::gui
