#pragma once
// Which engines run where nobody names engines: decision 104.
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::engine {

/// Whether the engine is measured beside the preferred one on cores of this architecture, as
/// board::architecture() calls it.
bool competes_on(std::string_view architecture, std::string_view engine);

/// An engine that can start.
struct EngineHere {
  std::string name;
  std::vector<std::string> processors = {};  // GPUs and NPUs that it is the first to reach
};

/// The names joined for make_engine(): the first engine, those that compete with it on cores, and
/// by their processors those that reach others: "onednn,cuda@gpu0,onnxruntime@cpu". At least one.
std::string default_engines(std::string_view architecture, std::span<const EngineHere> here);

}  // namespace millrace::engine
