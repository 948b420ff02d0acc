#pragma once
// Inside `admission`: the static table of what was decided.
#include "api/admission/admit.h"

namespace millrace::api {

/// In place of the one that the result has; none if the set does not fit or none is asked for.
void add_table(const AdmitRequest& request, AdmitResult& result);

/// The choices of other goals, of those for which a table is found the best by the goal that was
/// asked for. The result stays as it is if there is none.
void choose_for_a_table(const AdmitRequest& request, AdmitResult& result);

}  // namespace millrace::api
