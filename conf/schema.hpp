// The key table: every key of a configuration file, once. From it come the parser, its messages for unknown keys, the
// defaults, ranges and units, the effective configuration and the JSON Schema; tests hold brink.yaml and the reference
// documentation to it. Constant data, any thread.
//
// To add a key: add the member to config.hpp, a row to the block in keys*.cpp, a line to brink.yaml and to
// docs/configuration.md, and regenerate brink.schema.json (BRINK_UPDATE=1 with the tests).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "conf/config.hpp"
#include "conf/syntax.hpp"

namespace brink::conf {

enum class Kind : std::uint8_t {
  text,
  integer,       // min..max; `word` stands for 0
  duration,      // min..max in milliseconds
  size,          // min..max in bytes
  rate,          // per second
  share,         // min..max percent; `word` stands for 0
  boolean,       // true or false
  choice,        // one of `choices`
  address,       // host:port to listen on
  url,           // of an endpoint
  texts,         // a list of texts
  some_choices,  // a list of some of `choices`, each once
  headers,       // a mapping of header name to text
  block,         // a mapping with the keys of `block`
  blocks,        // a list of them
  named_blocks,  // a mapping of name to block
  later,         // known, but a later release brings it: always an error
};

// One converted scalar on its way into the tree.
struct Value {
  std::string name;  // of the header, for Kind::headers
  std::string raw;   // as written, placeholders included: the only form that may be shown
  std::string text;  // with placeholders replaced
  std::int64_t number = 0;
  std::size_t index = 0;  // of an entry in its list
  double rate = 0;        // of a share: 1 is all
  Target target;
  Location where;
};

struct Block;
struct Scope;

// One row. Function pointers are made by `store`, `open` and their kin below.
// The order is that in which a row reads best, not the one without padding.
struct Key {  // NOLINT(clang-analyzer-optin.performance.Padding)
  std::string_view name;
  Kind kind = Kind::text;
  std::string_view doc = {};       // one line, for editors; for Kind::later: what it would do
  const char* fallback = nullptr;  // the default as one would write it; null: none
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::string_view word = {};  // integer, share: stands for 0; block: short for the mapping {`word_key`: `word`}
  std::string_view word_key = {};
  std::span<const std::string_view> choices = {};
  std::span<const std::string_view> later_choices = {};
  bool required = false;
  bool may_be_empty = false;  // a list or mapping without entries makes sense
  bool credentials = false;   // may hold a password: never quoted in a message, masked where it is shown
  bool literal = false;       // placeholders are refused: the text is a name that Brink shows
  bool in_included = false;   // the top level of an included file may have it
  std::size_t max_items = 1000;
  std::string (*check)(std::string& text) = nullptr;       // of the text, each list entry, each header value
  std::string (*check_name)(std::string& name) = nullptr;  // of header names and names of blocks
  const Block* block = nullptr;
  void (*set)(void* object, const Value& value) = nullptr;
  void* (*open)(void* object, const std::string& name, const Location& where) = nullptr;  // the sub-block's object
};

// A mapping with a fixed set of keys.
struct Block {
  std::string_view title;  // completes "in ..."
  std::span<const Key> keys;
  std::span<const std::string_view> one_of = {};       // exactly one of these keys must be there
  std::span<const std::string_view> at_most_one = {};  // no two of these
  void (*check)(Scope& scope,
                void* object) = nullptr;  // what the keys mean together, and values that depend on the host
};

// What stands where in `include:`, which is no part of the Config itself.
struct Include {
  std::string pattern;
  Location where;
};

// What the top level of the files fills.
struct Document : Config {
  std::vector<Include> includes;  // of the file being read
};

const Block& root_block();
extern const Block cluster_block;
extern const Block route_block;
extern const Block cache_tiers_block;
extern const Block route_cache_block;
extern const Block compress_block;
extern const Block outlier_block;
extern const Block queue_block;
extern const Block retry_block;
extern const Block hedge_block;
extern const Block local_model_block;

template <class M>
struct MemberTraits;
template <class C, class T>
struct MemberTraits<T C::*> {
  using Class = C;
  using Type = T;
};
template <auto Member>
using ClassOf = typename MemberTraits<decltype(Member)>::Class;
template <auto Member>
using TypeOf = typename MemberTraits<decltype(Member)>::Type;

template <class T>
concept PushesText = std::is_same_v<T, std::vector<std::string>>;
template <class T>
concept PushesChoice = requires {
  typename T::value_type;
}
&&std::is_enum_v<typename T::value_type>;

// Puts a value into a member by the member's type. `Object` is the class that the pointer really points to.
template <auto Member, class Object = ClassOf<Member>>
void store(void* object, const Value& value) {
  using T = TypeOf<Member>;
  T& member = static_cast<Object*>(object)->*Member;
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::optional<std::string>>) {
    member = value.text;
  } else if constexpr (PushesText<T>) {
    member.push_back(value.text);
  } else if constexpr (PushesChoice<T>) {
    if (value.index == 0) member.clear();  // of the struct's default
    member.push_back(static_cast<typename T::value_type>(value.number));
  } else if constexpr (std::is_same_v<T, HeaderList>) {
    member.emplace_back(value.name, value.text);
  } else if constexpr (std::is_same_v<T, Duration>) {
    member = Duration{value.number};
  } else if constexpr (std::is_floating_point_v<T>) {
    member = value.rate;
  } else {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    member = static_cast<T>(value.number);
  }
}

template <class T>
void store_address(void* object, const Value& value) {
  static_cast<T*>(object)->host = value.target.host;
  static_cast<T*>(object)->port = value.target.port;
}

template <class T>
void mark(T& object, const std::string& name, const Location& where) {
  if constexpr (requires { object.where; }) object.where = where;
  if constexpr (requires { object.name; }) {
    if (!name.empty()) object.name = name;
  }
}

// The object of a sub-block: the member itself, a fresh optional, or a new last element.
template <auto Member, class Object = ClassOf<Member>>
void* open(void* object, const std::string& name, const Location& where) {
  auto& member = static_cast<Object*>(object)->*Member;
  if constexpr (requires { member.emplace_back(); }) {
    auto& element = member.emplace_back();
    mark(element, name, where);
    return &element;
  } else if constexpr (requires { member.emplace(); }) {
    return &member.emplace();
  } else {
    return &member;
  }
}

}  // namespace brink::conf
