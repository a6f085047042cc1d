// The map of a Redis cluster: which node holds a key. Decisions only; one thread.
// Source: https://redis.io/docs/reference/cluster-spec/
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cache/redis/options.hpp"
#include "cache/redis/result.hpp"

namespace brink::cache::redis {

constexpr unsigned slot_count = 16'384;

// CRC16 (XMODEM) of the key, or of what stands between its first { and the next }, if anything does.
unsigned key_slot(std::string_view key);

struct Redirect {
  bool ask = false;  // only this one command goes there, after ASKING; else MOVED: the slot lives there from now on
  unsigned slot = 0;
  Node node;
};
// Reads "MOVED slot host:port" and "ASK ...". An empty host means that of the node that answered. Nothing: another
// error, or one that makes no sense.
std::optional<Redirect> read_redirect(const Reply& reply, const Node& answered_by);

class SlotMap {
 public:
  // From the reply to CLUSTER SLOTS. Keeps the old map and returns false where the reply makes no sense.
  bool read(const Reply& reply, const Node& answered_by);
  // Returns false where the map is full of nodes, as no cluster is.
  bool move(unsigned slot, const Node& node);

  const Node* find(unsigned slot) const;  // nullptr: unknown
  const std::vector<Node>& nodes() const { return nodes_; }
  bool contains(const Node& node) const;

 private:
  static constexpr std::size_t most_nodes = 1'000;
  static constexpr std::uint16_t unknown = 0xFFFF;
  std::optional<std::uint16_t> index(const Node& node);

  std::vector<Node> nodes_;
  std::array<std::uint16_t, slot_count> slots_ = filled();
  static constexpr std::array<std::uint16_t, slot_count> filled() {
    std::array<std::uint16_t, slot_count> all{};
    all.fill(unknown);
    return all;
  }
};

}  // namespace brink::cache::redis
