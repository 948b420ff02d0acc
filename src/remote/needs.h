#pragma once
// What a command on a board needs beside the files that its words name.
#include <string>

#include "product/written_over.h"
#include "remote/command.h"

namespace millrace::remote {

/// Options that belong to the file.
struct NeededFile {
  std::string file;
  std::string weights = {};  // of a Darknet configuration
  std::string model = {};    // of a plan, in place of the one that it names
  std::string script = {};   // of a deployment
};

/// Adds the file, or the folder with its files, and all that it names: the model of a plan with its
/// weights and external data, what a bundle has, what an application or a system reads. Also where
/// an application writes. What is wrong with a file is said on the board. A name without a file,
/// such as a network of the zoo, counts for nothing.
void add_needs(const NeededFile& needed, Command& command);

}  // namespace millrace::remote
