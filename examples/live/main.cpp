// Two models under deadlines: frames of the program go in, each group's results come out.
#include <millrace/millrace.h>

#include <atomic>
#include <iostream>

int main(int, char** arguments) {
  const auto model = millrace::Model::from_file(arguments[1]);
  millrace::System system{"pair", std::vector<millrace::Group>(2)};
  system.groups[0].name = "left";
  system.groups[1].name = "right";
  for (auto& group : system.groups) group.model = model, group.rate_fps = 5;

  std::atomic<int> results{0};
  auto run = millrace::deploy(system).start([&](const millrace::GroupResult& result) {
    if (++results <= 40)  // several threads call this
      std::cout << result.group + " " + std::to_string(result.response.count() / 1000) + " us\n";
  });
  while (results < 40)  // a camera would wait for its next frame here
    for (const auto& group : system.groups)
      run.submit(group.name, {millrace::Tensor::zeros(model.inputs()[0])});
  for (const auto& group : run.stop())
    std::cout << group.group << ": " << group.missed << " of " << group.done << " late\n";
}
