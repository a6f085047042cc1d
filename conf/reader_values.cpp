// The part of the reader that takes the values of single keys.
#include <set>

#include "conf/reader.hpp"
#include "conf/secrets.hpp"
#include "conf/values.hpp"

namespace brink::conf {

bool Reader::read_value(const Key& key, const Entry& entry, void* object, Json& shown) {
  switch (key.kind) {
    case Kind::block:
      return read_sub_block(key, entry, object, shown);
    case Kind::blocks:
      return read_blocks(key, entry, object, shown);
    case Kind::named_blocks:
      return read_named_blocks(key, entry, object, shown);
    case Kind::texts:
    case Kind::some_choices:
      return read_texts(key, entry, object, shown);
    case Kind::headers:
      return read_headers(key, entry, object, shown);
    default:
      return read_scalar(key, entry, object, shown);
  }
}

// Reports a value of the wrong type, an empty list or mapping that would mean nothing, and one that is too long.
bool Reader::right_shape(const Key& key, const Entry& entry, bool shape, std::string_view wanted) {
  const std::string name = ticked(key.name);
  std::string wrong;
  if (entry.value.IsNull()) {
    wrong = " has no value; it must be " + std::string(wanted);
  } else if (!shape) {
    wrong = " must be " + std::string(wanted);
  } else if (!entry.value.IsScalar() && entry.value.size() == 0 && !key.may_be_empty) {
    wrong = std::string(" is empty; give it at least one entry") + (key.required ? "" : " or remove it");
  } else if (!entry.value.IsScalar() && entry.value.size() > key.max_items) {
    wrong = " has more than " + std::to_string(key.max_items) + " entries";
  }
  if (!wrong.empty()) problem(where(entry), name + wrong);
  return wrong.empty();
}

// An entry that is left out has no place of its own in the YAML tree, so its list's is shown, with its number.
bool Reader::is_missing(const Key& key, const Entry& entry, const YAML::Node& item, std::size_t number) {
  if (!item.IsNull()) return false;
  problem(where(entry), ticked(key.name) + ": entry " + std::to_string(number) + " has no value");
  return true;
}

// The text of a scalar with its placeholders replaced.
bool Reader::take_text(const Key& key, const YAML::Node& node, Value& value) {
  if (!within_budget(node)) return false;
  const std::string name = ticked(key.name);
  if (!node.IsScalar()) {
    problem(where(node), name + " must hold plain texts");
    return false;
  }
  value.where = where(node);
  value.raw = value.text = node.Scalar();
  if (!has_placeholder(value.raw)) return true;
  if (key.literal) {
    problem(where(node), name + ": `${...}` is not allowed here, because names are logged and shown");
    return false;
  }
  const std::string wrong = expand(value.raw, std::filesystem::path(file_).parent_path(), value.text);
  if (!wrong.empty()) problem(where(node), name + ": " + wrong);
  return wrong.empty();
}

bool Reader::read_scalar(const Key& key, const Entry& entry, void* object, Json& shown) {
  if (!right_shape(key, entry, entry.value.IsScalar(), "a single value")) return false;
  Value value;
  if (!take_text(key, entry.value, value)) return false;
  shown = show(key, value.raw);
  if (const std::string wrong = convert(key, value); !wrong.empty()) {
    const bool may_hold_password =
        key.credentials || (key.kind == Kind::url && value.raw.find('@') != std::string::npos);
    problem(where(entry), ticked(key.name) + (may_hold_password ? " " : ": " + ticked(value.raw) + " ") + wrong);
    return false;
  }
  key.set(object, value);
  return true;
}

bool Reader::read_sub_block(const Key& key, const Entry& entry, void* object, Json& shown) {
  const Location at = where(entry);
  if (!key.word.empty() && entry.value.IsScalar() && entry.value.Scalar() == key.word) {
    YAML::Node expanded(YAML::NodeType::Map);
    expanded[std::string(key.word_key)] = std::string(key.word);
    shown = read_block(*key.block, expanded, at, key.open(object, {}, at));
    return true;
  }
  const std::string wanted =
      key.word.empty() ? "a mapping of keys to values" : "a mapping of keys to values or " + ticked(key.word);
  Key block = key;
  block.may_be_empty = true;  // all defaults
  if (!right_shape(block, entry, entry.value.IsMap(), wanted)) return false;
  shown = read_block(*key.block, entry.value, at, key.open(object, {}, at));
  return true;
}

bool Reader::read_blocks(const Key& key, const Entry& entry, void* object, Json& shown) {
  shown = Json::array();
  if (!right_shape(key, entry, entry.value.IsSequence(), "a list; start each entry with `- `")) return false;
  std::size_t count = 0;
  for (const auto& item : entry.value) {
    if (!within_budget(item)) return false;
    const Location at = where(item);
    ++count;
    if (is_missing(key, entry, item, count)) continue;
    const std::size_t problems_before = problems_.size();
    shown.push_back(read_block(*key.block, item, at, key.open(object, {}, at)));
    if (key.name == "listeners") notes_.listeners.push_back(at);
    if (key.name == "routes") notes_.sound_routes.push_back(problems_.size() == problems_before);
  }
  return true;
}

bool Reader::read_named_blocks(const Key& key, const Entry& entry, void* object, Json& shown) {
  shown = Json::object();
  if (!right_shape(key, entry, entry.value.IsMap(), "a mapping of names to their settings")) return false;
  std::set<std::string, std::less<>> names;
  for (const auto& item : entry.value) {
    if (!within_budget(item.first)) return false;
    const Location at = where(item.first);
    std::string name = item.first.IsScalar() ? item.first.Scalar() : std::string();
    if (const std::string wrong = key.check_name(name); !wrong.empty()) {
      problem(at, ticked(key.name) + ": " + ticked(name) + " " + wrong);
    } else if (!names.insert(name).second) {
      problem(at, "duplicate key " + ticked(name) + " in " + ticked(key.name));
      continue;
    }
    shown[name] = read_block(*key.block, item.second, at, key.open(object, name, at));
  }
  return true;
}

bool Reader::read_texts(const Key& key, const Entry& entry, void* object, Json& shown) {
  shown = Json::array();
  if (!right_shape(key, entry, entry.value.IsSequence(), "a list, like `[a, b]`")) return false;
  std::set<std::string> seen;
  std::size_t count = 0;
  bool fine = true;
  for (const auto& item : entry.value) {
    Value value;
    value.index = count++;
    if (is_missing(key, entry, item, count) || !take_text(key, item, value)) {
      fine = false;
      continue;
    }
    shown.push_back(value.raw);
    std::string wrong = convert(key, value);
    if (wrong.empty() && !seen.insert(value.text).second) wrong = "stands in this list twice";
    if (!wrong.empty()) {
      problem(value.where, ticked(key.name) + ": " + ticked(value.raw) + " " + wrong);
      fine = false;
      continue;
    }
    key.set(object, value);
  }
  return fine;
}

bool Reader::read_headers(const Key& key, const Entry& entry, void* object, Json& shown) {
  shown = Json::object();
  if (!right_shape(key, entry, entry.value.IsMap(), "a mapping of header names to values")) return false;
  std::set<std::string> names;
  bool fine = true;
  for (const auto& item : entry.value) {
    if (item.first.IsScalar() && !names.insert(lower(item.first.Scalar())).second) {
      problem(where(item.first), ticked(key.name) + ": the header " + ticked(item.first.Scalar()) +
                                     " stands here twice (names ignore case)");
      fine = false;
    } else {
      fine = read_header(key, item.first, item.second, object, shown) && fine;
    }
  }
  return fine;
}

// Values are never quoted in messages: headers are where credentials stand.
bool Reader::read_header(const Key& key, const YAML::Node& name, const YAML::Node& node, void* object, Json& shown) {
  Value value;
  if (name.IsScalar()) value.name = name.Scalar();
  const std::string named = ticked(key.name) + ": the header " + ticked(value.name);
  if (const std::string wrong = key.check_name(value.name); !wrong.empty()) {
    problem(where(name), named + " " + wrong);
    return false;
  }
  if (!node.IsScalar()) {
    problem(where(node.IsNull() ? name : node), named + " must have a single value (`\"\"` for an empty one)");
    return false;
  }
  if (!take_text(key, node, value)) return false;
  shown[value.name] = value.raw;
  if (const std::string wrong = convert(key, value); !wrong.empty()) {
    problem(value.where, named + " has a value that " + wrong);
    return false;
  }
  key.set(object, value);
  return true;
}

}  // namespace brink::conf
