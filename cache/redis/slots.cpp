#include "cache/redis/slots.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace brink::cache::redis {
namespace {

constexpr std::array<std::uint16_t, 256> make_crc_table() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned i = 0; i < 256; ++i) {
    unsigned crc = i << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1;
    table[i] = static_cast<std::uint16_t>(crc);
  }
  return table;
}
constexpr auto crc_table = make_crc_table();

std::string_view hash_tag(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const std::size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

template <typename T>
bool read_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool port_ok(std::int64_t port) { return port > 0 && port <= std::numeric_limits<std::uint16_t>::max(); }

// Redis 7 sends a nil or an empty host for "as you called me", and "?" for a name it was not told.
bool read_node(const Reply& item, const Node& answered_by, Node& node) {
  if (item.type != Reply::Type::array || item.elements.size() < 2) return false;
  const Reply &host = item.elements[0], &port = item.elements[1];
  if (port.type != Reply::Type::integer || !port_ok(port.integer) || host.text == "?") return false;
  node = {host.text.empty() ? answered_by.host : host.text, static_cast<std::uint16_t>(port.integer)};
  return true;
}

}  // namespace

unsigned key_slot(std::string_view key) {
  unsigned crc = 0;
  for (const char c : hash_tag(key)) {
    crc = ((crc << 8) ^ crc_table[((crc >> 8) ^ static_cast<unsigned char>(c)) & 0xFF]) & 0xFFFF;
  }
  return crc % slot_count;
}

std::optional<Redirect> read_redirect(const Reply& reply, const Node& answered_by) {
  Redirect redirect;
  redirect.ask = reply.is_error("ASK");
  if (!redirect.ask && !reply.is_error("MOVED")) return std::nullopt;
  std::string_view rest = reply.text;
  rest.remove_prefix(std::min(rest.size(), rest.find(' ') + 1));
  const std::size_t space = rest.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  if (!read_number(rest.substr(0, space), redirect.slot) || redirect.slot >= slot_count) return std::nullopt;
  rest.remove_prefix(space + 1);
  const std::size_t colon = rest.rfind(':');  // an IPv6 address comes without brackets
  if (colon == std::string_view::npos) return std::nullopt;
  std::uint16_t port = 0;
  if (!read_number(rest.substr(colon + 1), port) || port == 0) return std::nullopt;
  const std::string_view host = rest.substr(0, colon);
  if (host == "?") return std::nullopt;
  redirect.node = {host.empty() ? answered_by.host : std::string(host), port};
  return redirect;
}

bool SlotMap::read(const Reply& reply, const Node& answered_by) {
  if (reply.type != Reply::Type::array || reply.elements.empty()) return false;
  SlotMap fresh;
  for (const Reply& range : reply.elements) {
    if (range.type != Reply::Type::array || range.elements.size() < 3) return false;
    const Reply &first = range.elements[0], &last = range.elements[1];
    if (first.type != Reply::Type::integer || last.type != Reply::Type::integer) return false;
    if (first.integer < 0 || first.integer > last.integer || last.integer >= slot_count) return false;
    Node node;  // the master comes first, replicas follow
    if (!read_node(range.elements[2], answered_by, node)) continue;
    const auto at = fresh.index(node);
    if (!at) return false;
    std::fill(fresh.slots_.begin() + first.integer, fresh.slots_.begin() + last.integer + 1, *at);
  }
  if (fresh.nodes_.empty()) return false;
  *this = std::move(fresh);
  return true;
}

bool SlotMap::move(unsigned slot, const Node& node) {
  const auto at = index(node);
  if (at) slots_[slot] = *at;
  return at.has_value();
}

const Node* SlotMap::find(unsigned slot) const { return slots_[slot] == unknown ? nullptr : &nodes_[slots_[slot]]; }

bool SlotMap::contains(const Node& node) const { return std::find(nodes_.begin(), nodes_.end(), node) != nodes_.end(); }

std::optional<std::uint16_t> SlotMap::index(const Node& node) {
  const auto found = std::find(nodes_.begin(), nodes_.end(), node);
  if (found != nodes_.end()) return static_cast<std::uint16_t>(found - nodes_.begin());
  if (nodes_.size() >= most_nodes) return std::nullopt;
  nodes_.push_back(node);
  return static_cast<std::uint16_t>(nodes_.size() - 1);
}

}  // namespace brink::cache::redis
