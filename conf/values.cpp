#include "conf/values.hpp"

#include <algorithm>

#include "conf/problems.hpp"
#include "conf/secrets.hpp"
#include "conf/units.hpp"

namespace brink::conf {
namespace {

std::string write_range(const Key& key) { return "write " + range_text(key); }

std::string in_range(const Key& key, const Value& value) {
  return value.number < key.min || value.number > key.max ? "is out of range; " + write_range(key) : "";
}

std::string convert_integer(const Key& key, Value& value) {
  if (!key.word.empty() && value.text == key.word) {
    value.number = 0;
    return {};
  }
  const auto number = parse_integer(value.text);
  if (!number) return "is no whole number; " + write_range(key);
  value.number = *number;
  return in_range(key, value);
}

std::string convert_duration(const Key& key, Value& value) {
  const auto number = parse_duration(value.text);
  if (!number) {
    const char* what = parse_integer(value.text) ? "has no unit" : "is no duration";
    return std::string(what) + "; write it with ms, s, m or h, like `250ms` or `30s` (" + range_text(key) + ")";
  }
  value.number = *number;
  return in_range(key, value);
}

std::string convert_size(const Key& key, Value& value) {
  const auto number = parse_size(value.text);
  if (!number) return "is no size; write bytes or use B, KiB, MiB or GiB, like `64KiB` (" + range_text(key) + ")";
  value.number = *number;
  return in_range(key, value);
}

std::string convert_rate(const Key&, Value& value) {
  constexpr double most = 1e9;
  const auto rate = parse_rate(value.text);
  if (!rate) return "is no rate; write a whole number a second or minute, like `100/s` or `600/m`";
  if (*rate <= 0 || *rate > most) return "is out of range; write more than 0 and at most `1000000000/s`";
  value.rate = *rate;
  return {};
}

std::string convert_share(const Key& key, Value& value) {
  value.rate = 0;
  if (!key.word.empty() && value.text == key.word) return {};
  const auto share = parse_share(value.text);
  if (!share) return "is no share; write it in percent, like `20%` (" + range_text(key) + ")";
  value.rate = *share;
  const bool fits = *share * 100 >= static_cast<double>(key.min) && *share * 100 <= static_cast<double>(key.max);
  return fits ? "" : "is out of range; " + write_range(key);
}

std::string convert_boolean(const Key&, Value& value) {
  if (value.text != "true" && value.text != "false") return "is neither `true` nor `false`";
  value.number = value.text == "true" ? 1 : 0;
  return {};
}

std::string convert_choice(const Key& key, Value& value) {
  std::string list;
  for (std::size_t i = 0; i < key.choices.size(); ++i) {
    if (value.text == key.choices[i]) {
      value.number = static_cast<std::int64_t>(i);
      return {};
    }
    list += (i == 0 ? "`" : ", `") + std::string(key.choices[i]) + "`";
  }
  for (std::string_view choice : key.later_choices) {
    if (value.text == choice) return "is not supported by this version of Brink yet; valid here: " + list;
  }
  // The text itself may come from a secret, so only a plainly written one is compared with the valid ones.
  const std::vector<std::string_view> candidates(key.choices.begin(), key.choices.end());
  const std::string hint = value.raw == value.text ? did_you_mean(value.text, candidates) : std::string();
  return "is not known" + hint + (hint.empty() ? "; valid here: " : " valid here: ") + list;
}

}  // namespace

std::string range_text(const Key& key) {
  auto written = [&](std::int64_t number) {
    if (key.kind == Kind::duration) return format_duration(number);
    if (key.kind == Kind::share) return std::to_string(number) + "%";
    return key.kind == Kind::size ? format_size(number) : std::to_string(number);
  };
  std::string text = written(key.min) + " to " + written(key.max);
  if (!key.word.empty()) text += " or `" + std::string(key.word) + "`";
  return text;
}

std::vector<std::string> default_list(const Key& key) {
  std::vector<std::string> items;
  std::string_view rest = key.fallback;
  while (!rest.empty()) {
    const std::size_t start = rest.find_first_not_of("[], ");
    if (start == std::string_view::npos) break;
    rest.remove_prefix(start);
    const std::size_t length = std::min(rest.find_first_of("], "), rest.size());
    items.emplace_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  return items;
}

std::string convert(const Key& key, Value& value) {
  switch (key.kind) {
    case Kind::integer:
      return convert_integer(key, value);
    case Kind::duration:
      return convert_duration(key, value);
    case Kind::size:
      return convert_size(key, value);
    case Kind::rate:
      return convert_rate(key, value);
    case Kind::share:
      return convert_share(key, value);
    case Kind::boolean:
      return convert_boolean(key, value);
    case Kind::choice:
    case Kind::some_choices:
      return convert_choice(key, value);
    case Kind::address:
      return parse_address(value.text, value.target);
    case Kind::url:
      return parse_url(value.text, value.target);
    default:
      return key.check != nullptr ? key.check(value.text) : "";
  }
}

nlohmann::ordered_json show(const Key& key, const std::string& raw) {
  if (key.kind == Kind::integer) {
    if (const auto number = parse_integer(raw)) return *number;
  }
  if (key.kind == Kind::boolean && (raw == "true" || raw == "false")) return raw == "true";
  return key.credentials ? hide_password(raw) : raw;
}

}  // namespace brink::conf
