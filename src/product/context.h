#pragma once
// How the operations of this room work, and who hears of it.
#include <memory>

#include "base/operation/context.h"

namespace millrace::product {

using Listener = OperationListener;
using millrace::Work;

struct InMemory;

struct Context : millrace::Context {
  /// Values in place of files: memory/in_memory.h. Shared by copies of the context; null: none.
  std::shared_ptr<const InMemory> memory = {};
};

}  // namespace millrace::product
