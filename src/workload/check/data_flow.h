#pragma once
// Inside the room: what goes from workload to workload.
#include <string>
#include <vector>

#include "network/network.h"
#include "workload/workload.h"

namespace millrace::workload {

/// What is wrong with the order of the workloads, or with which are there: a sentence each. Without
/// a network, inputs and outputs are those that the program names; if it names none, no missing
/// workload is noticed.
/// Precondition, with a network: indices of tensors and layers are its own.
std::vector<std::string> data_flow_violations(const Program& program,
                                              const network::Network* network);

/// Where workloads, or links of one, take the same tensor for something else: of another number of
/// elements, of 8-bit integers in other steps. A sentence each.
std::vector<std::string> tensor_violations(const Program& program);

}  // namespace millrace::workload
