#pragma once
// Keyword arguments, and times between both languages.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <optional>
#include <utility>

#include "millrace/options.h"
#include "module.h"

namespace millrace::python {

namespace nb = nanobind;

inline Duration duration_of(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

/// Seconds.
inline nb::object seconds_or_none(const std::optional<Duration>& duration) {
  return duration ? nb::cast(seconds_of(*duration)) : nb::none();
}

/// A list of one tuple for each item.
template <class Items, class Row>
nb::list rows_of(const Items& items, Row row) {
  nb::list rows;
  for (const auto& each : items) rows.append(row(each));
  return rows;
}

/// Values of keyword arguments that are there.
class Settings {
 public:
  explicit Settings(nb::dict given) : given_(std::move(given)) {}
  template <class T>
  void take(const char* name, T& to) const {
    if (given_.contains(name) && !given_[name].is_none()) to = nb::cast<T>(given_[name]);
  }
  template <class T>
  void take(const char* name, std::optional<T>& to) const {
    if (given_.contains(name) && !given_[name].is_none()) to = nb::cast<T>(given_[name]);
  }
  void take(const char* name, Duration& to) const {
    std::optional<double> seconds;
    take(name, seconds);
    if (seconds) to = duration_of(*seconds);
  }
  void take(const char* name, std::optional<Duration>& to) const {
    std::optional<double> seconds;
    take(name, seconds);
    if (seconds) to = duration_of(*seconds);
  }

 private:
  nb::dict given_;
};

}  // namespace millrace::python
