#include <QApplication>
#include <QDesktopServices>
#include <QFileInfo>
#include <QPlainTextEdit>
#include <QStyleFactory>
#include <QTest>
#include <QTextBlock>
#include <QTextStream>

#include "gui/main_window.h"
#include "results/store/store.h"

using namespace gradwire::gui;

/// walk_desktop DB SCENARIO FOLDER: the way of a planner through the real window by keys alone,
/// from opening a database to the report, with the pictures of docs/desktop.md. Every station has
/// to be reached, or the program says which was not, and exits with 1.
namespace {

constexpr int kPatienceMs = 60'000;

/// The browser's place.
class ReportReader : public QObject {
  Q_OBJECT

 public:
  ReportReader() { QDesktopServices::setUrlHandler("file", this, "open"); }
  ~ReportReader() override { QDesktopServices::unsetUrlHandler("file"); }
  QUrl opened;
 public slots:
  void open(const QUrl& url) { opened = url; }
};

class Walk {
 public:
  Walk(MainWindow& window, QString folder) : window_(window), folder_(std::move(folder)) {}

  /// Keys go where the focus is, as a keyboard's do.
  void press(const char* keys) {
    const QKeyCombination key = QKeySequence(keys)[0];
    QTest::keyClick(focused(), key.key(), key.keyboardModifiers());
    QTest::qWait(30);
  }
  void type(const QString& text) {
    QTest::keyClicks(focused(), text);
    QTest::qWait(30);
  }
  /// A file dialog that a key has opened: its field has the focus.
  void answer_dialog(const QString& file) {
    reach("a dialog that asks for a file", [&] {
      QWidget* active = QApplication::activeWindow();
      return active && active != &window_ && QApplication::focusWidget();
    });
    press("Ctrl+A");
    type(file);
    press("Return");
    come_back();
  }
  /// Without a window manager nobody gives the focus back.
  void come_back() {
    reach("the window again", [&] {
      window_.activateWindow();
      return QApplication::activeWindow() == &window_ && QApplication::focusWidget();
    });
  }
  void reach(const char* station, const std::function<bool()>& there) {
    if (QTest::qWaitFor(there, kPatienceMs)) {
      QTextStream(stdout) << "reached: " << station << "\n";
      return;
    }
    window_.grab().save(folder_ + "/lost.png");
    QTextStream(stderr) << "not reached: " << station << " (" << window_.error_text() << ")\n";
    std::exit(1);
  }
  void picture(const char* name) {
    QTest::qWait(600);
    reach(name, [&] { return window_.grab().save(folder_ + "/" + name + ".png"); });
  }

 private:
  QWidget* focused() {
    QWidget* widget = QApplication::focusWidget();
    return widget ? widget : &window_;
  }

  MainWindow& window_;
  QString folder_;
};

void open_and_filter(Walk& walk, MainWindow& window, const QString& database) {
  walk.press("Ctrl+O");
  walk.answer_dialog(database);
  walk.reach("the runs of the database", [&] { return window.table()->view().total() > 3; });
  walk.press("Ctrl+F");
  walk.type("workers>1 and status=finished");
  walk.press("Return");
  walk.reach("a filter without an error", [&] {
    return window.table()->filter_error().isEmpty() && window.table()->view().rows() > 3 &&
           window.table()->filter_field()->text().endsWith("finished");
  });
}

void compare(Walk& walk, MainWindow& window) {
  walk.press("Ctrl+D");
  walk.press("Ctrl+4");
  for (int row = 0; row < 10; ++row) walk.press("Down");
  walk.press("B");
  walk.reach("a baseline", [&] { return window.table()->view().baseline() != nullptr; });
  walk.press("Ctrl+Alt+3");
  walk.reach("the answers", [&] { return window.answers()->text().contains("uncompressed"); });
  walk.press("Ctrl+4");
  walk.press("Ctrl+A");
  walk.reach("all runs selected", [&] {
    return window.selection()->runs().size() == std::size_t(window.table()->view().rows());
  });
  walk.picture("desktop");
  walk.press("PgUp");
  for (int i = 0; i < 2; ++i) walk.press("Shift+Down");
  walk.press("Ctrl+1");
  walk.reach("three runs selected", [&] { return window.selection()->runs().size() == 3; });
  walk.picture("desktop-compare");
  // Two runs one above the other: the baseline and the one that is chosen.
  walk.press("Ctrl+4");
  walk.press("Down");
  walk.press("Ctrl+2");
  walk.reach("the timelines of two runs",
             [&] { return window.timeline()->tracks()[1] != nullptr; });
  walk.press("Ctrl+M");
  walk.press("F");
  walk.press("S");
  walk.press("T");
  for (int i = 0; i < 4; ++i) walk.press(".");
  walk.press("C");
  walk.reach("a critical path", [&] { return !window.timeline()->chain().segments.empty(); });
  walk.picture("desktop-timeline");
  walk.press("Esc");
  walk.press("Ctrl+M");
}

void ask_what_if(Walk& walk, MainWindow& window) {
  walk.press("Ctrl+6");
  walk.reach("the model's answer", [&] { return !window.what_if()->verdict().isEmpty(); });
  walk.press("Ctrl+A");
  walk.type("25Mbps");
  walk.press("Return");
  walk.picture("desktop-what-if");
  // The chart in front as a table, and back.
  walk.press("Ctrl+T");
  walk.press("Esc");
  walk.come_back();
  walk.press("Ctrl+Shift+C");
  walk.reach("the changed scenario in the editor",
             [&] { return window.editor()->text()->toPlainText().contains("25Mbps"); });
}

/// Fewer steps: down to the line that says how many, and over what it says.
void edit(Walk& walk, MainWindow& window) {
  walk.press("Ctrl+8");
  QPlainTextEdit* text = window.editor()->text();
  walk.press("Ctrl+Home");
  for (int line = 0; line < text->blockCount(); ++line) {
    if (text->textCursor().block().text().contains("\"steps\":")) break;
    walk.press("Down");
  }
  walk.press("End");
  walk.press("Shift+Home");
  walk.type("    \"steps\": 20,");
  walk.reach("a scenario without problems", [&] {
    return window.editor()->state().contains("run") &&
           text->toPlainText().contains("\"steps\": 20");
  });
  walk.picture("desktop-scenario");
}

void run_it(Walk& walk, MainWindow& window, const QString& scenario) {
  const int before = window.table()->view().total();
  walk.press("Ctrl+Return");
  walk.answer_dialog(scenario);
  walk.reach("new runs in the table", [&] {
    return !window.run_panel()->process()->running() && window.table()->view().total() > before;
  });
}

void report(Walk& walk, const ReportReader& reader, const QString& page) {
  walk.press("Ctrl+Alt+R");
  walk.answer_dialog(page);
  walk.reach("the report", [&] { return reader.opened.toLocalFile() == page; });
}

}  // namespace

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  QApplication::setStyle(QStyleFactory::create("Fusion"));
  const QStringList arguments = QApplication::arguments();
  if (arguments.size() != 4) {
    QTextStream(stderr) << "walk_desktop DB SCENARIO FOLDER\n";
    return 2;
  }
  const QString folder = QFileInfo(arguments[3]).absoluteFilePath();
  ReportReader reader;
  MainWindow window({folder + "/none.db", arguments[2], false}, [](const std::string& path) {
    return gradwire::results::Store::open(path, gradwire::results::Store::Mode::kReadOnly);
  });
  window.resize(1280, 820);
  window.show();
  if (!QTest::qWaitForWindowActive(&window)) return 1;
  Walk walk(window, folder);
  open_and_filter(walk, window, QFileInfo(arguments[1]).absoluteFilePath());
  compare(walk, window);
  ask_what_if(walk, window);
  edit(walk, window);
  run_it(walk, window, folder + "/changed.json");
  report(walk, reader, folder + "/report.html");
  QTextStream(stdout) << "walked\n";
  return 0;
}

#include "walk_desktop.moc"
