#pragma once
// What most operations begin with: a model, and who computes it in what.
#include <optional>
#include <string>
#include <vector>

#include "api/context.h"
#include "base/ids.h"
#include "board/board.h"
#include "engine/registry.h"
#include "network/model_source.h"
#include "network/network.h"

namespace millrace::api {

struct Setup {
  network::ModelSource source;  // its seed is that of everything random
  std::vector<std::string> processors = {};  // names; empty: all of this machine
  std::string engine = engine::engine_names().front();  // of this build the preferred one
  Context context = {};
};

/// In what layers may compute.
struct VariantOptions {
  std::vector<board::Precision> precisions = {};  // each once; empty: f32
  std::optional<double> max_error = std::nullopt;  // none: the usual
};

std::vector<board::Precision> precisions_of(const VariantOptions& options);

/// This machine, or the shipped board or board file `of`, with the processors asked for.
board::Board load_board(const Setup& setup, const std::string& of = {});

/// InputError, which names the option, if the network has no layer of this name.
LayerId layer_named(const network::Network& network, const std::string& name,
                    const std::string& option);

}  // namespace millrace::api
