#pragma once
// Inside `admission`: what is to be decided, tasks with times on all configurations.
#include "api/admission/admit.h"

namespace millrace::api {

/// This machine's cores, alone and all together, which engines can be measured on.
explore::Elements elements_of_this_machine(const board::Board& board);

/// The groups asked for, behind no other tasks of the result. InputError for what is no network
/// alone, and for times on what the board has not.
void add_tasks(const AdmitRequest& request, const board::Board& board, AdmitResult& result);

/// How the group's network runs on the configuration: by layer; empty: as the engine likes.
std::vector<board::Variant> layers_measured(const AdmitRequest& request,
                                            const network::Network& network,
                                            const system::Group& group,
                                            const explore::Element& element);

}  // namespace millrace::api
