#pragma once
// Whether a program may run: the interpreter itself checks nothing.
#include <string>
#include <vector>

#include "network/network.h"
#include "workload/workload.h"

namespace millrace::workload {

/// What is wrong, a sentence each, with the workload and the link or buffer; empty: nothing. Plays
/// every step on marks instead of numbers. Of each workload at most the first violation of a step.
std::vector<std::string> violations(const Program& program);

/// What is wrong with one workload before any step: buffers, links, cycles.
std::vector<std::string> static_violations(const Program& program, const Workload& workload);

/// What its steps do wrong; precondition: no static violations.
std::vector<std::string> play_violations(const Workload& workload);

/// Whether the program's tensors are this network's; a program of other layers, or of another
/// network, is not. And whether data flow: what a workload reads was written before, by one
/// workload, and all outputs are.
std::vector<std::string> violations(const Program& program, const network::Network& network);

}  // namespace millrace::workload
