#include "network/operators/opaque.h"

#include "network/evaluate/loops.h"

namespace millrace::network::loops {

void run(const Opaque& op, Inputs in, Outputs out) { op.owner->run(op, in, out); }

}  // namespace millrace::network::loops
