#include <QApplication>
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#include <memory>

/// One QApplication without a screen for all test cases of this program.
namespace {

struct ApplicationListener : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;

  void testRunStarting(const Catch::TestRunInfo& info) override {
    TestEventListenerBase::testRunStarting(info);
    qputenv("QT_QPA_PLATFORM", "offscreen");
    previous_ = qInstallMessageHandler(&ApplicationListener::message);
    application_ = std::make_unique<QApplication>(arguments_, values_);
  }
  void testRunEnded(const Catch::TestRunStats& stats) override {
    application_.reset();
    TestEventListenerBase::testRunEnded(stats);
  }

 private:
  /// The offscreen platform says this about every window.
  static void message(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    if (!text.contains("propagateSizeHints")) previous_(type, context, text);
  }
  static inline QtMessageHandler previous_ = nullptr;
  int arguments_ = 1;
  char name_[9] = "test_gui";
  char* values_[2] = {name_, nullptr};
  std::unique_ptr<QApplication> application_;
};

}  // namespace

CATCH_REGISTER_LISTENER(ApplicationListener)
