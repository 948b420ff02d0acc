#pragma once
// The entries of a board file's `devices`.
#include "board/read_values.h"

namespace millrace::board {

/// What other parts of the file define: checked by whoever reads.
struct FileNames {
  Names sources{"source"}, devices{"device"}, processors{"processor"}, memories{"memory"};
};

/// Its name and processors become known to `names`.
Device read_device(const YamlView& view, FileNames& names);

}  // namespace millrace::board
