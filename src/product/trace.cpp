#include "product/trace.h"

#include "product/written_over.h"

namespace millrace::product {

void check_trace(const TraceOptions& options, const RunnableOptions& runnable) {
  if (options.file.empty()) return;
  FilesRead files;
  files.add(runnable);
  files.refuse_unwritable({options.file});
}

}  // namespace millrace::product
