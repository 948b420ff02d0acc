#include "api/setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "board/shipped.h"

namespace millrace::api {

std::vector<board::Precision> precisions_of(const VariantOptions& options) {
  return options.precisions.empty() ? std::vector{board::Precision::f32} : options.precisions;
}

board::Board load_board(const Setup& setup, const std::string& of) {
  const board::Board board = of.empty() ? board::this_machine() : board::find_board(of);
  if (setup.processors.empty()) return board;
  const board::Board chosen = board::only(board, setup.processors);
  if (of.empty()) return chosen;
  for (const board::Processor& processor : chosen.processors)
    if (std::find(board.processors.begin(), board.processors.end(), processor) ==
        board.processors.end())
      throw InputError("--processors " + processor.name,
                       "cores can be joined on this machine only; in a board file, the device says "
                       "`together: true`");
  return chosen;
}

LayerId layer_named(const network::Network& network, const std::string& name,
                    const std::string& option) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    if (network.layers[i].name == name) return LayerId(i);
    names.push_back(network.layers[i].name);
  }
  const std::string near = did_you_mean(name, names);
  throw InputError(option + " " + name,
                   fmt::format("is no layer of {}{}", network.name,
                               near.empty() ? "; `millrace inspect` lists them" : near));
}

}  // namespace millrace::api
