#include "conf/reader.hpp"

#include <algorithm>

#include "conf/secrets.hpp"
#include "conf/values.hpp"

namespace brink::conf {
namespace {

std::string ticked_name(const Key& key) { return ticked(key.name); }

std::string not_yet(const Key& key) {
  return ticked_name(key) + ": this version of Brink does not support " + std::string(key.doc) + " yet; remove the key";
}

std::vector<std::string_view> valid_keys(const Block& block) {
  std::vector<std::string_view> names;
  for (const Key& key : block.keys) {
    if (key.kind != Kind::later) names.push_back(key.name);
  }
  return names;
}

std::string listed(std::span<const std::string_view> names) {
  std::string text;
  for (std::string_view name : names) text += (text.empty() ? "`" : ", `") + std::string(name) + "`";
  return text;
}

}  // namespace

Location Reader::where(const YAML::Node& node) const {
  const YAML::Mark mark = node.Mark();
  if (mark.is_null()) return {file_, 1, 1};
  return {file_, mark.line + 1, mark.column + 1};
}

// A value that is left out has no place of its own: its key's is the one to show.
Location Reader::where(const Entry& entry) const {
  return where(entry.value.IsNull() || entry.value.Mark().is_null() ? entry.key : entry.value);
}

bool Reader::within_budget(const YAML::Node& node) {
  if (nodes_ > max_nodes) return false;
  if (++nodes_ <= max_nodes) return true;
  problem(where(node), "the configuration is too large (more than " + std::to_string(max_nodes) +
                           " values, aliases expanded); the rest is not read");
  return false;
}

void Reader::unknown_key(const Block& block, const YAML::Node& key) {
  const std::vector<std::string_view> names = valid_keys(block);
  const std::string hint = did_you_mean(key.Scalar(), names);
  std::string list;
  for (std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  problem(where(key), "unknown key " + ticked(key.Scalar()) + (hint.empty() ? ";" : hint) + " valid here: " + list);
}

// The known keys of a mapping. Reports what is no mapping, unknown, double, or for later.
Reader::Entries Reader::entries(const Block& block, const YAML::Node& node, const Location& at) {
  Entries found;
  if (node.IsNull()) return found;
  if (!node.IsMap()) {
    problem(at, std::string(block.title) +
                    " must be a mapping of keys to values; valid here: " + listed(valid_keys(block)));
    return found;
  }
  for (const auto& item : node) {
    if (!within_budget(item.first)) break;
    if (!item.first.IsScalar()) {
      problem(where(item.first), "a key must be a plain word");
      continue;
    }
    const std::string& name = item.first.Scalar();
    const auto key = std::find_if(block.keys.begin(), block.keys.end(), [&](const Key& k) { return k.name == name; });
    if (key == block.keys.end()) {
      unknown_key(block, item.first);
    } else if (const auto earlier = found.find(name); earlier != found.end()) {
      const Location first = where(earlier->second.key);
      problem(where(item.first),
              "duplicate key " + ticked(name) + "; it stands at line " + std::to_string(first.line) + " already");
    } else if (key->kind == Kind::later) {
      problem(where(item.first), not_yet(*key));
    } else {
      found.emplace(name, Entry{item.first, item.second});
    }
  }
  return found;
}

void Reader::check_groups(const Block& block, const Entries& found, const Location& at) {
  auto count = [&](std::span<const std::string_view> group) {
    return std::count_if(group.begin(), group.end(),
                         [&](std::string_view key) { return found.find(key) != found.end(); });
  };
  if (!block.one_of.empty() && count(block.one_of) != 1) {
    const char* what = count(block.one_of) == 0 ? " needs one of " : " takes only one of ";
    problem(at, std::string(block.title) + what + listed(block.one_of));
  }
  if (count(block.at_most_one) > 1) {
    problem(at, std::string(block.title) + " takes only one of " + listed(block.at_most_one));
  }
  for (const Key& key : block.keys) {
    if (key.required && found.find(key.name) == found.end()) {
      problem(at, std::string(block.title) + " needs the key " + ticked_name(key));
    }
  }
}

Reader::Json Reader::read_block(const Block& block, const YAML::Node& node, const Location& at, void* object) {
  Json shown = Json::object();
  const Entries found = entries(block, node, at);
  if (node.IsMap() || node.IsNull()) check_groups(block, found, at);
  std::map<std::string, Location, std::less<>> written;
  std::set<std::string, std::less<>> wrong;
  for (const Key& key : block.keys) {
    Json part;
    const auto entry = found.find(key.name);
    if (entry == found.end()) {
      if (apply_default(key, at, object, part)) shown[std::string(key.name)] = std::move(part);
      continue;
    }
    if (read_value(key, entry->second, object, part)) {
      written.emplace(key.name, where(entry->second));
    } else {
      wrong.emplace(key.name);
    }
    shown[std::string(key.name)] = std::move(part);
  }
  if (block.check != nullptr) {
    Scope scope{problems_, notes_.references, shown, written, wrong, at};
    block.check(scope, object);
  }
  return shown;
}

void Reader::set_default(const Key& key, const std::string& text, std::size_t index, void* object) {
  Value value;
  value.raw = value.text = text;
  value.index = index;
  if (const std::string wrong = convert(key, value); !wrong.empty()) {
    throw std::logic_error("default of " + std::string(key.name) + " " + wrong);
  }
  key.set(object, value);
}

bool Reader::apply_default(const Key& key, const Location& at, void* object, Json& shown) {
  if (key.fallback == nullptr) return false;
  if (key.kind == Kind::block) {
    shown = read_block(*key.block, YAML::Node(YAML::NodeType::Map), at, key.open(object, {}, at));
  } else if (key.kind == Kind::texts || key.kind == Kind::headers) {
    shown = key.kind == Kind::texts ? Json::array() : Json::object();
  } else if (key.kind == Kind::some_choices) {
    shown = default_list(key);
    for (std::size_t i = 0; i < shown.size(); ++i) set_default(key, shown[i].get<std::string>(), i, object);
  } else {
    set_default(key, key.fallback, 0, object);
    shown = show(key, key.fallback);
  }
  return true;
}

void Reader::read_root(const YAML::Node& node, const std::string& file, bool included, Document& document) {
  file_ = file;
  const Block& block = root_block();
  const Entries found = entries(block, node, where(node));
  for (const Key& key : block.keys) {
    const auto entry = found.find(key.name);
    if (entry != found.end()) read_root_key(key, entry->second, included, document);
  }
}

bool Reader::read_root_key(const Key& key, const Entry& entry, bool included, Document& document) {
  if (included && !key.in_included) {
    problem(where(entry.key), ticked_name(key) +
                                  " may not stand in an included file; those hold `clusters`, `routes` and " +
                                  "`include`, all else belongs into the file given with -c");
    return false;
  }
  if (!key.in_included) {
    const auto [earlier, first] = sections_.try_emplace(std::string(key.name), where(entry.key));
    if (!first) {
      const Location& at = earlier->second;
      problem(where(entry.key),
              ticked_name(key) + " stands in another file already, at " + at.file + ":" + std::to_string(at.line));
      return false;
    }
  }
  Json part;
  if (!read_value(key, entry, &document, part)) {
    notes_.unread.emplace(key.name);
    return false;
  }
  if (key.set != nullptr) return true;  // `include` is not displayed
  Json& shown = shown_sections_[std::string(key.name)];
  if (shown.is_null()) {
    shown = std::move(part);
  } else if (key.kind == Kind::blocks) {
    shown.insert(shown.end(), part.begin(), part.end());
  } else {
    shown.update(part);
  }
  return true;
}

Reader::Json Reader::finish(Document& document) {
  Json shown = Json::object();
  for (const Key& key : root_block().keys) {
    const auto section = shown_sections_.find(key.name);
    Json part;
    if (section != shown_sections_.end()) {
      shown[std::string(key.name)] = std::move(section->second);
    } else if (sections_.find(key.name) == sections_.end() && apply_default(key, {}, &document, part)) {
      shown[std::string(key.name)] = std::move(part);
    }
  }
  return shown;
}

}  // namespace brink::conf
