#pragma once
// Which network is admitted where, for people and for programs.
#include <string>

#include "explore/admission/program.h"
#include "realtime/static_table.h"

namespace millrace::present {

/// What the text is of.
struct AdmissionRows {
  const explore::AdmissionProblem& problem;
  const explore::AdmissionChoice& choice;
  const std::vector<std::string>& precisions;
  const explore::AdmissionProblem& as_run;  // the same, with the periods of the static table
};

/// A row for each task: where it runs, in which precision, its time, its share of each unit. Then
/// the units with their load. Shares and loads are those of the static table's periods.
std::string admission_text(const AdmissionRows& rows);

/// The table over one hyperperiod as SVG: a row for each unit. Of long ones the first 2000 entries.
std::string static_table_gantt(const realtime::StaticTable& table,
                               const std::vector<realtime::TableTask>& tasks,
                               const std::vector<std::string>& units);

/// A header with the table as a constant array, for programs of their own.
std::string static_table_cpp(const realtime::StaticTable& table,
                             const std::vector<realtime::TableTask>& tasks,
                             const std::vector<std::string>& units);

}  // namespace millrace::present
