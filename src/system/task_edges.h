#pragma once
// What the edges of a task graph carry, and how much space they need.
#include <cstdint>
#include <string>
#include <vector>

#include "network/network.h"
#include "system/task_graph.h"

namespace millrace::system {

/// By edge: which output of its producer it carries.
std::vector<std::size_t> outputs_of_edges(const TaskGraph& graph);

/// So much space in each edge that no firing ever waits for it, with so many iterations on the way:
/// what the bounds of response times take for granted.
std::vector<std::int64_t> spaces_without_waits(const TaskGraph& graph, bool has_network,
                                               std::int64_t iterations);
/// The same with the least total with which the graph cannot deadlock, by a search that may end
/// before it has found the smallest.
std::vector<std::int64_t> smallest_spaces(const TaskGraph& graph, bool has_network);

/// The most that an edge may hold at run time.
inline constexpr std::int64_t most_tokens_of_edge = 1 << 24;
inline constexpr std::int64_t most_bytes_of_edge = std::int64_t{1} << 36;
/// InputError with the place of an edge that would hold more.
void check_spaces(const TaskGraph& graph, const std::vector<std::int64_t>& spaces,
                  const std::vector<std::int64_t>& token_bytes);

/// "uint8 480x640x3".
std::string to_text(const TokenType& token);
Bytes size_of(const TokenType& token);

/// InputError with the place: an edge that leads to or from a tensor of the network and is of
/// another type, shape or size; or to or from a tensor that is not there.
void check_tensors(const TaskGraph& graph, const network::Network& network);

}  // namespace millrace::system
