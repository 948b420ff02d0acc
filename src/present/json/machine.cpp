#include "present/json/machine.h"

#include "base/json_text.h"
#include "board/board_file.h"
#include "board/shipped.h"
#include "present/results/board.h"
#include "present/results/roofline.h"

namespace millrace::present {

std::string board_json(const board::Board& board) {
  return json_document("board_report", board_fields(board));
}

std::string machine_json(const board::Board& board,
                         const std::optional<product::MeasuredPeaks>& measured,
                         const product::Context& context) {
  nlohmann::json fields = board_fields(board);
  fields["engines"] = nlohmann::json::array();
  for (const product::EngineVersion& each : engines(context)) {
    nlohmann::json engine{{"name", each.name}, {"competes", each.competes}};
    engine[each.absent.empty() ? "version" : "absent"] =
        each.absent.empty() ? each.version : each.absent;
    fields["engines"].push_back(std::move(engine));
  }
  fields["reached"] = nlohmann::json::array();
  for (const engine::ReachedDevice& each : devices(context))
    fields["reached"].push_back({{"processors", each.device.processors},
                                 {"kind", board::to_text(each.device.kind)},
                                 {"model", each.device.model},
                                 {"engine", each.engine},
                                 {"driver", each.driver},
                                 {"memory_bytes", each.memory.count}});
  for (std::size_t i = 0; measured && i < measured->alone.size(); ++i) {
    fields["processors"][i]["peaks_alone"] = peaks_json(measured->alone[i]);
    fields["processors"][i]["peaks"] = peaks_json(measured->together[i]);
  }
  return json_document("board_report", std::move(fields));
}

std::string boards_json() {
  nlohmann::json boards = nlohmann::json::array();
  for (const std::string& name : board::shipped_boards()) {
    const board::Board board = board::find_board(name);
    nlohmann::json processors = nlohmann::json::array();
    for (const board::Processor& processor : board.processors)
      processors.push_back(processor_json(processor));
    boards.push_back({{"board", name}, {"name", board.name}, {"processors", processors}});
  }
  return json_document("boards", {{"boards", boards}});
}

std::string cache_json(const product::CacheContents& cache, const product::ClearedCache* cleared) {
  return json_document("cache",
                       {{"folder", cache.folder ? nlohmann::json(cache.folder->string()) : nullptr},
                        {"profiles", cache.profiles},
                        {"packed_weights", cache.packed.files},
                        {"packed_weights_bytes", cache.packed.size.count},
                        {"cleared", cleared != nullptr && !cleared->failed},
                        {"left", cleared != nullptr ? cleared->left : std::vector<std::string>()}});
}

}  // namespace millrace::present
