#pragma once
#include <QObject>
#include <QThread>
#include <atomic>
#include <memory>

#include "gui/whatif/what_if.h"

namespace gradwire::gui {

/// Answers on a thread of its own, so that a slider never waits. Only the latest question counts:
/// those before it are dropped.
class WhatIfJob : public QObject {
  Q_OBJECT

 public:
  explicit WhatIfJob(QObject* parent = nullptr);
  ~WhatIfJob() override;

  void set_base(WhatIfBasePtr base);
  void ask(const Changes& changes);

 signals:
  void answered(const std::shared_ptr<const gradwire::gui::WhatIfAnswer>& answer);

 private:
  void work(quint64 generation, const Changes& changes);

  QThread thread_;
  QObject* worker_;                ///< lives in the thread: its event loop runs work()
  std::unique_ptr<WhatIf> model_;  ///< of the thread
  std::atomic<quint64> generation_{0};
};

}  // namespace gradwire::gui
