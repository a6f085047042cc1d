// What a client says about content codings, and the choice among ours (RFC 9110 section 12.5.3). A value of one
// request; nothing allocates, nothing throws, any bytes are taken: a member that breaks the grammar counts as not
// written.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "proxy/filter/coding.hpp"

namespace brink::filter {

class AcceptEncoding {
 public:
  // One Accept-Encoding field value; call it for each field line, in order. Of a coding named twice the first counts.
  void add(std::string_view value);

  // The coding with the highest weight, of equal weights the first in `ours`. Identity wins only where the client gives
  // it a higher weight by name or by `*`, or accepts nothing of ours. Without the field, and with an empty one, it is
  // identity: a client that says nothing may be unable to decode. nullopt: nothing of ours, and identity is refused.
  std::optional<Coding> choose(std::span<const Coding> ours) const;

  // Whether this very coding may be sent (as for a stored copy that is encoded already).
  bool accepts(Coding coding) const;

 private:
  static constexpr std::int16_t unset = -1;
  std::int16_t weight_of(Coding coding) const;  // thousandths; `unset`: neither named nor covered by `*`

  std::array<std::int16_t, 3> named_{unset, unset, unset};  // by Coding
  std::int16_t any_ = unset;                                // of `*`
};

}  // namespace brink::filter
