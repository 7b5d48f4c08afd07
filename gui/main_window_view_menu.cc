#include <QMenuBar>

#include "gui/main_window.h"

/// The menu of what is seen, and how.
namespace gradwire::gui {

QAction* MainWindow::add_switch(QMenu* menu, const QString& text, const QKeySequence& keys, bool on,
                                std::function<void(bool on)> work) {
  QAction* action = menu->addAction(text);
  action->setCheckable(true);
  action->setChecked(on);
  action->setShortcut(keys);
  connect(action, &QAction::toggled, this, [work = std::move(work)](bool set) { work(set); });
  return action;
}

void MainWindow::build_view_menu() {
  QMenu* menu = menuBar()->addMenu("&View");
  add_action(menu, "Bac&k", {QKeySequence("Alt+Left")}, [this] { go(true); });
  add_action(menu, "For&ward", {QKeySequence("Alt+Right")}, [this] { go(false); });
  add_action(menu, "Save this &view…", {QKeySequence("Ctrl+Shift+V")}, [this] { ask_view_name(); });
  views_menu_ = menu->addMenu("&Saved views");
  menu->addSeparator();
  add_places(menu);
  add_panels(menu);
  menu->addSeparator();
  add_chart_actions(menu);
  menu->addSeparator();
  add_table_switches(menu);
  menu->addSeparator();
  add_look(menu);
}

void MainWindow::add_places(QMenu* menu) {
  add_action(menu, "&Trade-off", {QKeySequence("Ctrl+1")},
             [this] { show_tab(tradeoff_, tradeoff_->chart()); });
  add_action(menu, "T&imeline", {QKeySequence("Ctrl+2")},
             [this] { show_tab(timeline_page_, timeline_); });
  add_action(menu, "Fin&d in the timeline", {QKeySequence("Ctrl+Shift+F")},
             [this] { show_tab(timeline_page_, timeline_page_->find_field()); });
  QAction* second = add_switch(menu, "Timeline: a second run below it",
                               QKeySequence("Ctrl+Shift+2"), comparing_, [this](bool on) {
                                 comparing_ = on;
                                 show_current_run();
                               });
  second->setToolTip("The other one of two selected runs, else the baseline");
  add_action(menu, "&Seeds: mean and spread", {QKeySequence("Ctrl+3")},
             [this] { show_tab(groups_, groups_->table()); });
  add_action(menu, "Run ta&ble", {QKeySequence("Ctrl+4")}, [this] { table_->table()->setFocus(); });
  add_action(menu, "Scaling &curves", {QKeySequence("Ctrl+7")},
             [this] { show_tab(scaling_, scaling_->chart()); });
  add_action(menu, "Sce&nario: text and form", {QKeySequence("Ctrl+8")},
             [this] { show_tab(editor_, editor_->text()); });
  add_action(menu, "Fields of the scenario", {QKeySequence("Ctrl+9")},
             [this] { show_tab(editor_, editor_->form()->search()); });
  add_action(menu, "Parall&el coordinates", {QKeySequence("Ctrl+Alt+2")},
             [this] { show_tab(parallel_, parallel_); });
  add_action(menu, "Take the marks of the parallel axes away", {QKeySequence("Ctrl+Alt+Backspace")},
             [this] { parallel_->clear_brushes(); });
  add_action(menu, "Net&work: map and load", {QKeySequence("Ctrl+Alt+1")},
             [this] { show_tab(topology_, topology_->map()); });
  add_action(menu, "Play the network, or pause", {QKeySequence("Ctrl+Shift+T")},
             [this] { topology_->toggle_play(); });
}

void MainWindow::add_panels(QMenu* menu) {
  add_action(menu, "Answers: what to ta&ke", {QKeySequence("Ctrl+Alt+3")},
             [this] { show_dock(answers_dock_, answers_->page()); });
  QAction* panel = run_dock_->toggleViewAction();
  panel->setText("&Run panel");
  panel->setShortcut(QKeySequence("Ctrl+5"));
  menu->addAction(panel);
  add_action(menu, "&What if: the model's answer", {QKeySequence("Ctrl+6")},
             [this] { show_what_if(); });
  add_action(menu, "Copy what if to a scenario…", {QKeySequence("Ctrl+Shift+C")},
             [this] { what_if_->copy_to_scenario(); });
  add_action(menu, "What if: as it was", {QKeySequence("Ctrl+Shift+W")},
             [this] { what_if_->reset(); });
}

void MainWindow::add_chart_actions(QMenu* menu) {
  add_action(menu, "&Axes, colour and panels of the chart", {QKeySequence("Ctrl+Shift+A")}, [this] {
    charts_->setCurrentWidget(tradeoff_);
    tradeoff_->focus_choices();
  });
  add_action(menu, "The chart as a table…", {QKeySequence("Ctrl+T")},
             [this] { show_chart_table(); });
  add_action(menu, "&Zoom in", {QKeySequence::ZoomIn}, [this] { zoom_chart(true); });
  add_action(menu, "Zoom &out", {QKeySequence::ZoomOut}, [this] { zoom_chart(false); });
  add_action(menu, "&Show everything in the chart", {QKeySequence("0"), QKeySequence("Ctrl+0")},
             [this] { reset_chart(); });
}

void MainWindow::add_table_switches(QMenu* menu) {
  only_differing_ = add_switch(menu, "Only columns that &differ", QKeySequence("Ctrl+D"), false,
                               [this](bool on) { table_->set_only_differing(on); });
  connect(table_, &RunTable::only_differing_changed, only_differing_, &QAction::setChecked);
  add_switch(menu, "&Fields that only some runs have", QKeySequence("Ctrl+Shift+D"), false,
             [this](bool on) { table_->set_with_lacking(on); });
  add_switch(menu, "Sizes in b&its", QKeySequence("Ctrl+I"), false, [this](bool on) {
    table_->set_number_style({on});
    timeline_->set_number_style(on);
  });
}

void MainWindow::add_look(QMenu* menu) {
  add_action(menu, "&Light, dark or the desktop's colours", {QKeySequence("Ctrl+Shift+K")},
             [this] { next_colours(); });
  maximise_ = add_switch(menu, "&Maximise the chart", QKeySequence("F11"), false,
                         [this](bool on) { maximise(on); });
  maximise_->setShortcuts({QKeySequence("F11"), QKeySequence("Ctrl+M")});
  add_action(menu, "Reset &layout", {QKeySequence("Ctrl+Shift+L")}, [this] { reset_layout(); });
}

}  // namespace gradwire::gui
