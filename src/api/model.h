#pragma once
// What most verbs begin with: a network, a board, an engine and a profile.
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "board/board.h"
#include "engine/registry.h"
#include "network/network.h"
#include "plan/plan.h"
#include "profile/measure.h"
#include "runtime/simulated_board.h"

namespace millrace::api {

struct ModelOptions {
  std::string model;                    // a file, or the name of a zoo network
  std::string weights;                  // of a Darknet configuration; empty: those beside it
  std::int64_t size = 0;                // width and height of a detector's input; 0: its own
  std::vector<std::string> shapes;      // "input=1x3x224x224"
  std::vector<std::string> processors;  // names; empty: all of this machine
  std::string engine = engine::engine_names().front();  // of this build the preferred one
  std::uint64_t seed = 1;
  bool cache = true;  // read and write the cache folder
};

/// In what layers may compute.
struct VariantOptions {
  std::vector<std::string> precisions;  // empty: f32, or what an application says
  std::optional<double> max_error;
};

/// InputError if a word is no precision, or stands there twice.
std::vector<board::Precision> precisions_of(const VariantOptions& options);
/// As words, f32 if none was given.
std::string precision_names(const VariantOptions& options, const std::string& between);

/// InputError if it is neither a readable file nor a zoo name. Says so if the weights of a Darknet
/// configuration are random.
network::Network load_network(const ModelOptions& options);
/// The options with which the model of a plan was read; another model if one is given.
ModelOptions model_of_plan(const std::string& path, const std::string& model_override);
/// This machine, or the shipped board or board file `of`, with the processors asked for.
board::Board load_board(const ModelOptions& options, const std::string& of = {});

/// How the stages of a plan run whose processors are not here: see simulated_board.h.
struct SimulatedBoard {
  std::string computing;                             // the engine that computes their results
  engine::simulated::PacedEngine* engine = nullptr;  // one of Loaded::engines; null: none is
  double time_scale = 1;
  std::set<board::Precision> replaced;  // that are computed in f32 instead
  runtime::RunTimes times;              // stretched; the engine looks here
};

/// A plan and all that it needs to run.
struct Loaded {
  network::Network network;
  board::Board board;
  plan::Plan plan;
  std::map<std::string, std::unique_ptr<engine::Engine>> engines;
  SimulatedBoard simulated;

  std::map<std::string, engine::Engine*> engine_pointers() const;
};

/// InputError, which names the option, if the network has no layer of this name.
LayerId layer_named(const network::Network& network, const std::string& name,
                    const std::string& option);

/// Whether the file is a plan (JSON) rather than a model.
bool is_plan_file(const std::string& path);
/// Reads the plan and the model it was made from (or `model_override`, if given), and checks that
/// they belong together: without board and engines, for plans of any machine.
std::unique_ptr<Loaded> read_plan_and_network(const std::string& path,
                                              const std::string& model_override);
/// The same to run it here: this machine has the processors, or they are simulated, and the engines
/// are there. The result stays where it is: sessions borrow its network.
struct RunOptions {
  bool use_cache = true;
  double time_scale = 1;  // of simulated stages; 0: they take no longer than computing
};
std::unique_ptr<Loaded> load_plan(const std::string& path, const std::string& model_override,
                                  const RunOptions& options);
/// The second half of it: `loaded` has the plan of the file `path` and its network.
void make_ready(Loaded& loaded, const std::string& path, const RunOptions& options);

/// The profile in `path`, InputError if it does not fit. `path` empty: the one in the user's cache
/// folder if it fits, else a measured one, which is then stored; what the stored one lacks of the
/// precisions is measured and added. `fresh`: measure in any case. The result has the precisions
/// asked for, and may have others.
struct ProfileSource {
  std::filesystem::path path;
  bool fresh = false;
  profile::MeasureOptions measure;
  bool batches = false;  // also what layers gain by working on several frames at once
  bool cache = true;     // else measured in any case, and not stored
};
profile::Profile load_profile(const network::Network& network, const board::Board& board,
                              engine::Engine& engine, const ProfileSource& source);

}  // namespace millrace::api
