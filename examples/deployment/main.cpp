// A system of cameras with deadlines: each group reads its own, and a function gets each result.
#include <millrace/millrace.h>

#include <atomic>
#include <future>
#include <iostream>

int main(int, char** arguments) {
  const auto deployment = millrace::deploy(std::string(arguments[1]));
  millrace::RunOptions options;
  for (const auto& group : deployment.groups()) options.own_inputs.push_back(group.name);
  options.output = arguments[2];  // a folder: files, too
  std::atomic<int> results{0};
  std::promise<void> enough;
  const auto take = [&](const millrace::GroupResult& result) {  // several threads call it
    const auto bound = result.bound.value_or(millrace::Duration{});
    std::cout << result.group + " " + result.source + ": " +
                     std::to_string(result.response.count() / 1000) + " us, bound " +
                     std::to_string(bound.count() / 1000) + (result.repeated ? ", again\n" : "\n");
    if (++results == 50) enough.set_value();
  };
  auto run = deployment.start(take, options);
  enough.get_future().wait();
  for (const auto& group : run.stop()) std::cout << group.group << ": " << group.kept << "\n";
}
