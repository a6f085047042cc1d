#include "cache/memory/purge.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace brink::cache {

namespace {

constexpr std::string_view version = "brink-purge/1";
constexpr std::array<std::string_view, 5> kinds = {"url", "tag", "route", "model", "all"};  // as in Purge::Kind

// Cuts off and returns what is before the next space; all of it if there is none.
std::string_view next_word(std::string_view& left) {
  const std::size_t end = left.find(' ');
  const std::string_view word = left.substr(0, end);
  left = end == std::string_view::npos ? std::string_view{} : left.substr(end + 1);
  return word;
}

}  // namespace

std::string_view describe(PurgeTextError error) {
  switch (error) {
    case PurgeTextError::too_long:
      return "a purge that is too long";
    case PurgeTextError::unknown_version:
      return "not a purge, or one of an unknown version";
    case PurgeTextError::bad_kind:
      return "a purge of an unknown kind";
    case PurgeTextError::bad_mode:
      return "a purge that is neither hard nor soft";
    case PurgeTextError::bad_time:
      return "a purge with a bad time";
    case PurgeTextError::bad_text:
      return "a purge without the text that its kind needs, or with one that it cannot have";
  }
  return "a bad purge";
}

std::string to_text(const PurgeNotice& notice) {
  std::string text(version);
  text.append(" ").append(kinds[static_cast<std::size_t>(notice.what.kind)]);
  text.append(notice.soft ? " soft " : " hard ");
  text.append(std::to_string(notice.at.time_since_epoch().count()));
  if (notice.what.kind != Purge::Kind::all) text.append(" ").append(notice.what.text);
  return text;
}

boost::system::result<PurgeNotice, PurgeTextError> from_text(std::string_view text) {
  if (text.size() > max_purge_text) return PurgeTextError::too_long;
  if (next_word(text) != version) return PurgeTextError::unknown_version;
  const auto kind = std::find(kinds.begin(), kinds.end(), next_word(text));
  if (kind == kinds.end()) return PurgeTextError::bad_kind;
  const std::string_view mode = next_word(text);
  if (mode != "soft" && mode != "hard") return PurgeTextError::bad_mode;
  const std::string_view time = next_word(text);
  std::int64_t milliseconds = -1;
  const auto [end, error] = std::from_chars(time.data(), time.data() + time.size(), milliseconds);
  if (error != std::errc{} || end != time.data() + time.size() || milliseconds < 0) return PurgeTextError::bad_time;

  PurgeNotice notice;
  notice.what.kind = static_cast<Purge::Kind>(kind - kinds.begin());
  notice.what.text = text;
  notice.soft = mode == "soft";
  notice.at = WallTime(Duration(milliseconds));
  if (text.empty() != (notice.what.kind == Purge::Kind::all)) return PurgeTextError::bad_text;
  return notice;
}

}  // namespace brink::cache
