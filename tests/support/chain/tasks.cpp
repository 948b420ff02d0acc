// A task before and one after a network, at other rates than it.
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "application/tasks/task.h"
#include "weights.h"

namespace {

using millrace::application::Task;
using millrace::application::TaskFiring;
using millrace::application::TaskPort;

const TaskPort half_a_picture{"float32", {32}};
const TaskPort scores{"float32", {1, 10}};
const TaskPort digit{"int32"};

void draw(const TaskFiring& firing) {
  const auto half = firing.output<float>(0);
  for (std::size_t i = 0; i < half.size(); ++i)
    half[i] = weight(static_cast<std::size_t>(firing.number()) * half.size() + i);
}

void judge(const TaskFiring& firing) {
  const auto values = firing.input<float>(0);
  std::int32_t best = 0;
  for (std::int32_t i = 1; i < 10; ++i)
    if (values[static_cast<std::size_t>(i)] > values[static_cast<std::size_t>(best)]) best = i;
  for (std::int32_t& each : firing.output<std::int32_t>(0)) each = best;
}

struct Written {
  std::string file;
  std::vector<std::int32_t> digits;
  ~Written() {
    std::ofstream out(file);
    for (const std::int32_t each : digits) out << each << '\n';
  }
};

void save(const TaskFiring& firing) {
  if (firing.is_rehearsal()) return;
  Written& written = firing.state<Written>();
  written.file = firing.parameter("file", "digits.txt");
  for (const std::int32_t each : firing.input<std::int32_t>(0)) written.digits.push_back(each);
}

void fail(const TaskFiring& firing) {
  if (!firing.is_rehearsal() && firing.number() == 3) throw std::runtime_error("the disk is full");
}

void third_input(const TaskFiring& firing) { firing.input<std::int32_t>(2); }

void never_return(const TaskFiring& firing) {
  volatile bool is_over = firing.is_rehearsal() || firing.number() < 3;
  while (!is_over) {
  }
}

}  // namespace

extern "C" const Task draw_task{.run = draw, .inputs = {}, .outputs = {half_a_picture}};
extern "C" const Task judge_task{.run = judge, .inputs = {scores}, .outputs = {digit}};
extern "C" const Task save_task{.run = save, .inputs = {digit}, .outputs = {}};
extern "C" const Task fail_task{.run = fail, .inputs = {digit}, .outputs = {}};
extern "C" const Task never_return_task{.run = never_return, .inputs = {digit}, .outputs = {}};
extern "C" const Task third_input_task{.run = third_input, .inputs = {digit}, .outputs = {}};
extern "C" const Task two_inputs_task{.run = save, .inputs = {digit, digit}, .outputs = {}};
extern "C" const Task other_type_task{.run = save, .inputs = {{"uint8"}}, .outputs = {}};
extern "C" const Task without_function_task{.inputs = {digit}, .outputs = {}};
extern "C" const int no_task_task = 3;
