#pragma once
#include <string>
#include <vector>

#include "results/report/data.h"

/// The report's first screen: how many workers, which method, which link, what accuracy, what cost,
/// what is uncertain. One line a condition; conditions that get one answer share a line where there
/// are too many.
namespace gradwire::results {

struct PlannerLine {
  std::string conditions;  ///< "bandwidth 1Gbps", "8 of 12 conditions"; empty where there is one
  std::string workers, link, method, time, accuracy, cost, uncertain;
};

/// What a line answers, in the order of all forms.
struct PlannerColumn {
  const char* title;     ///< also the key for programs
  const char* question;  ///< where a line stands alone
  std::string PlannerLine::*text;
};
inline constexpr PlannerColumn kPlannerColumns[] = {
    {"workers", "How many workers?", &PlannerLine::workers},
    {"link", "Over which link?", &PlannerLine::link},
    {"take", "Which method?", &PlannerLine::method},
    {"time", "How fast?", &PlannerLine::time},
    {"accuracy", "What accuracy?", &PlannerLine::accuracy},
    {"cost", "What does it cost?", &PlannerLine::cost},
    {"uncertain", "What is uncertain?", &PlannerLine::uncertain}};

/// `most`: lines; of more, those with one answer are put together, with ranges for figures.
std::vector<PlannerLine> planner_lines(const ReportData& data, std::size_t most);

/// One workload of the first screen.
struct PlannerPart {
  std::string name, link;  ///< link: "#workload-1"; empty = none
  std::string note;        ///< under the name: "12 runs"
  std::vector<PlannerLine> lines;
};

/// A table of all lines; below 820 pixels each line is a card. A single line becomes six answers.
std::string planner_html(const std::vector<PlannerPart>& parts);

}  // namespace gradwire::results
