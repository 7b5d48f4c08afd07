#pragma once
#include <QObject>
#include <QThread>
#include <atomic>
#include <functional>

namespace gradwire::gui {

/// Work on a thread of its own of which only the latest counts: what was started before is not
/// begun any more, or its result is dropped. Work that is under way may ask whether it still
/// counts.
class LatestJob : public QObject {
  Q_OBJECT

 public:
  using Done = std::function<void()>;
  using Current = std::function<bool()>;
  /// Runs on the thread; what it returns runs where the job lives, if it still counts. Must not
  /// throw.
  using Work = std::function<Done(const Current& still_counts)>;

  explicit LatestJob(const char* name, QObject* parent = nullptr);
  ~LatestJob() override;

  void start(Work work);
  /// Nothing that was started counts any more.
  void cancel() { ++generation_; }

 private:
  QThread thread_;
  QObject* worker_;  ///< lives in the thread: its event loop runs the work
  std::atomic<quint64> generation_{0};
};

}  // namespace gradwire::gui
