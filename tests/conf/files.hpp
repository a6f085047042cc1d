// A scratch directory of configuration files for one test, and what loading them says.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "conf/load.hpp"

namespace brink::conf {

class Files {
 public:
  Files() {
    std::string pattern = (std::filesystem::temp_directory_path() / "brink-conf-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    directory_ = pattern;
  }
  ~Files() { std::filesystem::remove_all(directory_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((directory_ / name).parent_path());
    std::ofstream(directory_ / name, std::ios::binary) << text;
    return path(name);
  }

  LoadResult load(const std::string& name) const {
    const std::vector<std::string> files{path(name)};
    return conf::load(files);
  }

  // "name:line:column: message" of every problem, names relative to the directory.
  std::vector<std::string> problems(const std::string& name) const { return lines(load(name)); }

  std::vector<std::string> lines(const LoadResult& result) const {
    std::vector<std::string> out;
    const std::string prefix = directory_.string() + "/";
    for (const Problem& problem : result.problems) {
      std::string line = to_string(problem);
      for (std::size_t at; (at = line.find(prefix)) != std::string::npos;) line.erase(at, prefix.size());
      out.push_back(line);
    }
    return out;
  }

 private:
  std::filesystem::path directory_;
};

// One file with this text.
inline std::vector<std::string> problems_of(const std::string& text) {
  Files files;
  files.write("brink.yaml", text);
  return files.problems("brink.yaml");
}

inline LoadResult load_text(const std::string& text) {
  Files files;
  files.write("brink.yaml", text);
  return files.load("brink.yaml");
}

// The least that is a whole configuration, for tests that add one thing to it. Takes the lines 1 to 8.
inline const std::string minimal =
    "listeners: [{address: 127.0.0.1:0}]\n"
    "clusters:\n"
    "  chat:\n"
    "    endpoints: [{url: \"http://127.0.0.1:9101\"}]\n"
    "routes:\n"
    "  - name: all\n"
    "    match: {path_prefix: /}\n"
    "    cluster: chat\n";

// The same with these lines added to its only route.
inline std::string with_route(const std::string& lines) { return minimal + lines; }

}  // namespace brink::conf
