#pragma once
// What every engine does first with a request.
#include "engine/engine.h"

namespace millrace::engine {

/// The first refusal, by a function Verdict(LayerId); yes if there is none.
template <class Question>
Verdict all_of(std::span<const LayerId> layers, const Question& question) {
  for (const LayerId layer : layers)
    if (Verdict verdict = question(layer); !verdict) return verdict;
  return Verdict::yes();
}

/// For engines that work in the host's memory alone: NoSuchSpace if the request has another one.
void check_space(const Engine& engine, const SubnetRequest& request);

/// InputError naming the layer if the engine does not support one of them.
void check_layers(const Engine& engine, const SubnetRequest& request);

/// As check_space() and check_layers().
void check_support(const Engine& engine, const SubnetRequest& request);

/// For engines that know only plain tensors: InputError naming an input in another layout.
void check_plain(const Engine& engine, const SubnetRequest& request);

/// The memory spaces of outputs and inputs; empty: the host's.
std::vector<std::string> spaces_of(const SubnetRequest& request);

/// The outputs as ports, all of them plain.
std::vector<Port> plain_outputs(const SubnetRequest& request);

}  // namespace millrace::engine
