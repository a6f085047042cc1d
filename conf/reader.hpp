// Walks a YAML tree along the key table: fills the structs, notes every mistake with its place, and builds the
// displayed form of the same tree in which secrets are still placeholders. One reader a load; control thread only.
#pragma once

#include <yaml-cpp/yaml.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conf/checks.hpp"
#include "conf/problems.hpp"
#include "conf/schema.hpp"

namespace brink::conf {

class Reader {
 public:
  // Aliases can make a small file expand to a huge tree; past so many nodes reading stops with a problem.
  static constexpr std::size_t max_nodes = 500'000;

  explicit Reader(Problems& problems) : problems_(problems) {}

  // Reads one file's document into `document`. An included file may hold fewer keys. `file` is also the base of
  // relative
  // ${file:...} paths. May be called once a file; sections that exist once may stand in one of the files only.
  void read_root(const YAML::Node& node, const std::string& file, bool included, Document& document);

  // After the last file: fills the sections that no file had. Returns the displayed form of the whole tree.
  nlohmann::ordered_json finish(Document& document);

  const Notes& notes() const { return notes_; }

 private:
  using Json = nlohmann::ordered_json;
  struct Entry {
    YAML::Node key;
    YAML::Node value;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  Location where(const YAML::Node& node) const;
  Location where(const Entry& entry) const;
  void problem(Location at, std::string message) { problems_.add(std::move(at), std::move(message)); }
  bool within_budget(const YAML::Node& node);

  Entries entries(const Block& block, const YAML::Node& node, const Location& at);
  void unknown_key(const Block& block, const YAML::Node& key);
  Json read_block(const Block& block, const YAML::Node& node, const Location& at, void* object);
  void check_groups(const Block& block, const Entries& found, const Location& at);
  bool read_root_key(const Key& key, const Entry& entry, bool included, Document& document);

  // Each returns whether the value was right by itself; `shown` gets the displayed form.
  bool read_value(const Key& key, const Entry& entry, void* object, Json& shown);
  bool read_scalar(const Key& key, const Entry& entry, void* object, Json& shown);
  bool read_sub_block(const Key& key, const Entry& entry, void* object, Json& shown);
  bool read_blocks(const Key& key, const Entry& entry, void* object, Json& shown);
  bool read_named_blocks(const Key& key, const Entry& entry, void* object, Json& shown);
  bool read_texts(const Key& key, const Entry& entry, void* object, Json& shown);
  bool read_headers(const Key& key, const Entry& entry, void* object, Json& shown);
  bool read_header(const Key& key, const YAML::Node& name, const YAML::Node& value, void* object, Json& shown);
  bool is_missing(const Key& key, const Entry& entry, const YAML::Node& item, std::size_t number);
  bool take_text(const Key& key, const YAML::Node& node, Value& value);
  bool right_shape(const Key& key, const Entry& entry, bool shape, std::string_view wanted);
  bool apply_default(const Key& key, const Location& at, void* object, Json& shown);
  static void set_default(const Key& key, const std::string& text, std::size_t index, void* object);

  Problems& problems_;
  std::string file_;
  Notes notes_;
  std::map<std::string, Location, std::less<>> sections_;  // top-level keys met so far
  std::map<std::string, Json, std::less<>> shown_sections_;
  std::size_t nodes_ = 0;
};

}  // namespace brink::conf
