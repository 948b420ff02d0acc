#pragma once
// Systems that a program has put together.
#include "millrace/deployment.h"
#include "product/memory/in_memory.h"
#include "system/system.h"

namespace millrace::face {

/// With the models in the memory. InputError names the group, edge or chain.
system::System system_of(const System& from, product::InMemory& memory);

}  // namespace millrace::face
