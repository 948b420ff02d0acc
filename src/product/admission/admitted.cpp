#include "product/admission/admitted.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files/local_socket.h"
#include "base/json.h"
#include "explore/admission/running.h"
#include "explore/admission/tasks.h"
#include "product/admission/answer_file.h"
#include "product/admission/jobs.h"

namespace millrace::product {
namespace {

using Json = nlohmann::json;

constexpr Time longest_answer = std::chrono::seconds(60),
               longest_question = std::chrono::seconds(2),
               longest_silence = std::chrono::milliseconds(50);

/// The answer with the groups that run first, in their order.
Json running_first(Json answer, const AdmitResult& now) {
  if (!answer.is_object() || !answer.contains("groups") || !answer["groups"].is_array())
    return answer;
  const auto place = [&](const Json& group) {
    const Json name = group.is_object() ? group.value("name", Json()) : Json();
    std::size_t t = 0;
    while (t < now.groups.size() && name != now.groups[t].name) ++t;
    return t;
  };
  std::stable_sort(answer["groups"].begin(), answer["groups"].end(),
                   [&](const Json& a, const Json& b) { return place(a) < place(b); });
  return answer;
}

/// Answers those who come, while the table is played.
class AdmissionServer {
 public:
  AdmissionServer(AdmittedRun& run, const AdmitRequest& request, AdmittedJobs& jobs,
                  const std::filesystem::path& socket)
      : run_(run),
        request_(request),
        jobs_(jobs),
        listener_(socket),
        state_(state_of(run.result)) {}

  const std::filesystem::path& path() const { return listener_.path(); }

  /// For a while, on a thread of its own.
  runtime::PlayOptions while_played() {
    runtime::PlayOptions options;
    options.control = &control_;
    options.meanwhile = [this] { serve_one(); };
    return options;
  }

 private:
  static Json state_of(const AdmitResult& result) { return Json::parse(admission_json(result)); }

  void serve_one() {
    try {
      std::optional<LocalConnection> connection = listener_.accept(longest_silence);
      if (!connection) return;
      if (const std::optional<std::string> line = connection->read_line(longest_question))
        connection->write_line(answer(*line).dump());
    } catch (const std::exception& error) {
      request_.context.note(fmt::format("who asked for more was not answered: {}", error.what()));
    }
  }

  Json answer(const std::string& line) {
    try {
      const Json asked = Json::parse(line);
      if (asked.value("ask", "") == "state") return state_;
      if (asked.value("ask", "") == "extend") return extend(asked.at("answer"));
      return {{"refusal", "found a question that is not known"}};
    } catch (const std::exception& error) {
      return {{"refusal", error.what()}};
    }
  }

  Json extend(const Json& answer) {
    AdmitResult next =
        result_of(running_first(answer, run_.result), "what was sent", request_.context);
    if (const Verdict kept = explore::keeps_entries(run_.result, next); !kept)
      return {{"refusal", kept.reason()}};
    std::vector<runtime::TableJob> added;
    AdmittedLater later;
    for (std::size_t t = run_.result.groups.size(); t < next.groups.size(); ++t) {
      added.push_back(jobs_.job(next, t));
      later.groups.push_back(next.groups[t].name);
    }
    const auto when = control_.extend(*next.table, next.table_tasks, std::move(added));
    if (!when) return {{"refusal", "nothing runs any more"}};
    later.when = *when;
    run_.later.push_back(std::move(later));
    run_.result = std::move(next);
    state_ = state_of(run_.result);
    return {{"at_ns", when->at.count()}, {"prepared_ns", when->prepared.count()}};
  }

  AdmittedRun& run_;
  const AdmitRequest& request_;
  AdmittedJobs& jobs_;
  LocalListener listener_;
  runtime::TableControl control_;
  Json state_;
};

std::filesystem::path socket_named(const std::string& to) {
  long process = 0;
  const auto [end, error] = std::from_chars(to.data(), to.data() + to.size(), process);
  const bool is_number = error == std::errc() && end == to.data() + to.size();
  return is_number ? socket_of_process(process) : std::filesystem::path(to);
}

/// Each question comes by itself: much time may pass between two.
Json ask(const std::filesystem::path& socket, const Json& question) {
  LocalConnection connection(socket);
  connection.write_line(question.dump());
  const std::optional<std::string> line = connection.read_line(longest_answer);
  if (!line) throw EngineError("the process that was asked has not answered");
  Json answer = Json::parse(*line);
  if (answer.contains("refusal"))
    throw EngineError("it was not admitted: " + answer.at("refusal").get<std::string>());
  return answer;
}

}  // namespace

bool is_admission_file(const std::filesystem::path& path) {
  if (path.extension() != ".json") return false;
  const Json document = read_json(path);
  return document.is_object() && document.value("kind", Json()) == "admission";
}

AdmitResult result_of(const Json& answer, const std::string& file, const Context& context) {
  const JsonView root(answer, file);
  if (root.has("times") && root.at("times").text() == "modelled")
    root.at("times").fail("they are of a board that is not here; only what was measured runs");
  AdmitResult result;
  const board::Board board = board_of(result.system, context);
  result.board_name = board.name;
  result.elements = explore::elements_of_this_machine(board);
  result.problem = result.elements.problem;
  explore::RunningSet running = explore::add_running(answer, file, result);
  if (!running.table) root.fail("it has no static table to run by");
  for (const explore::GroupVariants& group : result.groups)
    if (group.system.empty()) root.fail(fmt::format("group '{}' has no 'system'", group.name));
  result.admission.answer = explore::Admission::Answer::fits;
  result.admission.choice = std::move(running.choice);
  result.table_tasks = std::move(running.table->tasks);
  result.table = std::move(running.table->table);
  return result;
}

AdmittedRun run_admitted(const AdmittedRunRequest& asked) {
  AdmitRequest request;
  request.engine = asked.engine;
  request.context = asked.context;
  AdmittedRun run{result_of(read_json(asked.file), asked.file, asked.context), {}, {}};
  AdmittedJobs jobs(request);
  AdmissionServer server(run, request, jobs,
                         asked.socket.empty() ? socket_of_process(::getpid()) : asked.socket);
  const AdmitResult first = run.result;  // the server changes the other one
  request.context.note("listens at " + server.path().string());
  run.played = jobs.play(first, asked.play, server.while_played());
  return run;
}

AdmitResult admit_into(const AdmitRequest& given, const std::string& to) {
  const std::filesystem::path socket = socket_named(to);
  AdmitRequest request = given;
  const Json state = ask(socket, {{"ask", "state"}});
  request.beside = &state;
  request.table = true;
  AdmitResult result = admit(request);
  if (!result.keeps_table) {
    if (result.fits())
      result.no_table =
          "it fits only if what runs there does not stay as it is, so nothing was "
          "handed over";
    result.is_table_lacking = result.fits();
    result.table.reset();
    return result;
  }
  const Json when =
      ask(socket, {{"ask", "extend"}, {"answer", Json::parse(admission_json(result))}});
  result.handed_over = runtime::TableSwitch{Time(when.at("at_ns").get<std::int64_t>()),
                                            Time(when.at("prepared_ns").get<std::int64_t>())};
  return result;
}

}  // namespace millrace::product
