#pragma once
// What most operations begin with: a model, and who computes it in what.
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "board/board.h"
#include "engine/registry.h"
#include "formats/model_source.h"
#include "network/network.h"
#include "product/context.h"

namespace millrace::product {

struct Setup {
  formats::ModelSource source;  // its seed is that of everything random
  std::vector<std::string> processors = {};  // names; empty: all of this machine
  /// As in engine::make_engine. Empty: this build's preferred one with those that compete with it
  /// here, and for devices that only another one reaches, that.
  std::string engine = {};
  Context context = {};
};

/// In what layers may compute.
struct VariantOptions {
  std::vector<board::Precision> precisions = {};  // each once; empty: f32
  std::optional<double> max_error = std::nullopt;  // none: the usual
};

std::vector<board::Precision> precisions_of(const VariantOptions& options);
std::string precisions_text(const VariantOptions& options);  // "f32+int8"

/// This machine with the devices that the engine reaches, or the shipped board or board file `of`;
/// of it, the processors asked for.
board::Board load_board(const Setup& setup, const std::string& of = {});

/// Where engines are chosen by default.
std::string architecture_of(const millrace::Context& context);

/// The engine asked for, or those by default: "onednn", "onednn,onnxruntime@gpu0".
std::string engine_of(const Setup& setup);
/// To measure with.
std::unique_ptr<engine::Engine> make_engine(const Setup& setup);

/// This machine with the devices that these engines reach, joined by commas as in make_engine; no
/// names: its cores alone.
board::Board this_machine_with(const std::string& engines,
                               const millrace::Context& context);

/// ⟨engine_library⟩ "NAME=FILE" and ⟨engine_option⟩ "NAME.KEY=VALUE". InputError on other texts and
/// unknown engines.
void add_library(Context& context, const std::string& text);
void add_setting(Context& context, const std::string& text);

/// InputError, which names the option, if the network has no layer of this name.
LayerId layer_named(const network::Network& network, const std::string& name,
                    const std::string& option);

}  // namespace millrace::product
