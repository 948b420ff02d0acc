#pragma once
// A plan and all that it needs to run: from a plan file, or of a model on one processor.
#include <memory>
#include <string>
#include <vector>

#include "plan/plan_file.h"
#include "product/setup.h"
#include "runtime/loaded/loaded.h"
#include "runtime/loaded/trace_file.h"

namespace millrace::product {

using runtime::Loaded;
using runtime::one_processor_plan;
using runtime::TraceOptions;

/// Beside a bundle's plan, what plug-ins compiled for it.
inline constexpr const char* folder_of_blobs = "blobs";

/// Whether the file is a plan (JSON) rather than a model.
inline bool is_plan_file(const std::string& path) { return path.ends_with(".json"); }
/// Reads the plan and the model it was made from (or `model_override`, if given), and checks that
/// they belong together: without board and engines, for plans of any machine.
std::unique_ptr<Loaded> read_plan_and_network(const std::string& path,
                                              const std::string& model_override,
                                              const Context& context = {});
/// The same to run it here: this machine has the processors, or they are simulated, and the engines
/// are there. The result stays where it is: sessions borrow its network.
struct RunOptions {
  Context context = {};
  double time_scale = 1;  // of simulated stages; 0: they take no longer than computing
};
std::unique_ptr<Loaded> load_plan(const std::string& path, const std::string& model_override,
                                  const RunOptions& options);
/// The second half of it: `loaded` has the plan of the file `path` and its network.
void make_ready(Loaded& loaded, const std::string& path, const RunOptions& options);

struct RunnableOptions {
  Setup model;          // its source: a plan file or a model
  std::string network;  // --model: the model of a plan that is no longer where it was
  double time_scale = 1;
};

/// A model is put on one processor as a whole: the first that was asked for, else the first that no
/// other process uses, which is the first of the board then.
std::unique_ptr<Loaded> load_runnable(const RunnableOptions& options);

/// In a model on one processor, lets each layer run in its fastest variant, as a plan does. That is
/// measured briefly, and kept.
void choose_variants(Loaded& loaded);

}  // namespace millrace::product
