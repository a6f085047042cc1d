// Finds and parses the YAML files: those given, and those that they include. Control thread only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conf/problems.hpp"
#include "conf/reader.hpp"

namespace brink::conf {

class FileLoader {
 public:
  static constexpr std::size_t max_file = std::size_t{16} * 1024 * 1024;  // bytes
  static constexpr std::size_t max_files = 1000;
  static constexpr std::size_t max_depth = 16;  // of includes within includes

  FileLoader(Reader& reader, Problems& problems, Document& document)
      : reader_(reader), problems_(problems), document_(document) {}

  // Reads a file given on the command line and all that it includes: first its own content, then the included files in
  // the order of `include`, sorted by name within one glob.
  void load(const std::string& file) { load(file, {}, nullptr); }

  // Did every file open and parse? Otherwise something missing in the tree may just be unread.
  bool complete() const { return complete_; }

 private:
  void load(const std::string& file, std::vector<std::string> parents, const Include* from);
  void load_includes(const std::string& file, const std::vector<std::string>& parents);
  bool may_load(const std::string& identity, const std::string& file, const std::vector<std::string>& parents,
                const Include* from);
  void fail(const std::string& file, const Include* from, std::string message);

  Reader& reader_;
  Problems& problems_;
  Document& document_;
  std::map<std::string, Location> loaded_;  // canonical path → where it was asked for
  bool complete_ = true;
};

}  // namespace brink::conf
