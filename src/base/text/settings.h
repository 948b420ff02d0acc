#pragma once
// Settings in messages. Below the command, a message names a field of the request that it is about:
// "give ⟨max_latency⟩". Whoever shows the message says it in the words of his users: --max-latency
// on the command line, max_latency in a program. The names are those of cli/options.table, with _.
#include <functional>
#include <string>
#include <string_view>

namespace millrace {

/// Each ⟨name⟩ of the text as `word` says it.
std::string with_settings(std::string_view text,
                          const std::function<std::string(std::string_view)>& word);

}  // namespace millrace
