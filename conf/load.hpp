// Reads YAML route files into a Config, or says everything that is wrong with them. Start-up and reload call it from
// the control thread; it does file I/O and takes milliseconds.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "conf/config.hpp"

namespace brink::conf {

// One mistake in the files. `message` is a sentence that says what is wrong and what to write instead.
struct Problem {
  Location where;
  std::string message;
};

// "file:line:column: message", the form editors and compilers use.
std::string to_string(const Problem& problem);

// Exactly one of the two is set: a config, or at least one problem.
struct LoadResult {
  std::shared_ptr<const Config> config;
  std::vector<Problem> problems;  // all of them, in the order of the files
};

// Loads the files and those they include (`include: [globs]`, relative to the including file). Never throws.
LoadResult load(std::span<const std::string> files);

// The JSON Schema (draft 2020-12) of a configuration file, made from the parser's own key table.
std::string json_schema();

}  // namespace brink::conf
