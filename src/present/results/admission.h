#pragma once
// Which network is admitted where, and what its table did.
#include <string>
#include <vector>

#include "product/admission/admit.h"

namespace millrace::present {

/// Where what runs, and how good that is; nothing if it does not fit.
std::string admission_answer(const product::AdmitResult& result, const std::string& goal);

/// Why it does not fit: one sentence.
std::string admission_refusal(const product::AdmitResult& result);

std::string played_text(const runtime::Played& played, const product::AdmitResult& result);

/// The table over one hyperperiod as SVG: a row for each unit. Of long ones the first 2000 entries.
std::string static_table_gantt(const realtime::StaticTable& table,
                               const std::vector<realtime::TableTask>& tasks,
                               const std::vector<std::string>& units);

/// A header with the table as a constant array, for programs of their own.
std::string static_table_cpp(const realtime::StaticTable& table,
                             const std::vector<realtime::TableTask>& tasks,
                             const std::vector<std::string>& units);

}  // namespace millrace::present
