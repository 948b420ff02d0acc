#pragma once
// A crash in somebody else's code is said in one sentence. For main functions: no library function
// calls this.

namespace millrace {

/// From now on, if a thread crashes in a ForeignCall, standard error says in which one. Then the
/// process ends as it would have.
void explain_crashes();

}  // namespace millrace
