// Tasks that make numbers of numbers, for any rates: what they write changes with every token.
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "application/tasks/task.h"

namespace {

using millrace::application::Task;
using millrace::application::TaskFiring;
using millrace::application::TaskPort;

const TaskPort number{"uint32"};

struct Sum {
  std::uint32_t value = 1;
};

/// The sum of all that was read so far, in their order; each token made is that and its place.
void add(const TaskFiring& firing, std::size_t inputs) {
  std::uint32_t& sum = firing.state<Sum>().value;
  for (std::size_t i = 0; i < inputs; ++i)
    for (const std::uint32_t each : firing.input<std::uint32_t>(i)) sum = sum * 31 + each;
  std::uint32_t place = 0;
  for (std::uint32_t& each : firing.output<std::uint32_t>(0)) each = sum + place++;
}

void count(const TaskFiring& firing) {
  ++firing.state<Sum>().value;
  add(firing, 0);
}

void pass(const TaskFiring& firing) { add(firing, 1); }

struct Written {
  std::string file;
  std::vector<std::uint32_t> numbers;
  ~Written() {
    std::ofstream out(file);
    for (const std::uint32_t each : numbers) out << each << '\n';
  }
};

void write(const TaskFiring& firing) {
  if (firing.is_rehearsal()) return;
  auto& written = firing.state<Written>();
  written.file = firing.parameter("file", "numbers.txt");
  for (const std::uint32_t each : firing.input<std::uint32_t>(0)) written.numbers.push_back(each);
}

void fall(const TaskFiring&) { throw std::runtime_error("the scaffold is wet"); }

}  // namespace

extern "C" const Task count_task{.run = count, .inputs = {}, .outputs = {number}};
extern "C" const Task pass_task{.run = pass, .inputs = {number}, .outputs = {number}};
extern "C" const Task write_task{.run = write, .inputs = {number}, .outputs = {}};
extern "C" const Task fall_task{.run = fall, .inputs = {number}, .outputs = {}};
