#include "proxy/filter/accept_encoding.hpp"

#include "proxy/http/rules.hpp"

namespace brink::filter {

namespace {

// qvalue = ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] ), in thousandths (RFC 9110 section 12.4.2).
std::optional<std::int16_t> parse_qvalue(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  int value = text[0] == '1' ? 1000 : 0;
  int unit = 100;
  for (std::size_t i = 2; i < text.size(); ++i, unit /= 10) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value += (text[i] - '0') * unit;
  }
  if (value > 1000) return std::nullopt;
  return static_cast<std::int16_t>(value);
}

// weight = OWS ";" OWS "q=" qvalue; a member takes no other parameter.
std::optional<std::int16_t> parse_weight(std::string_view parameter) {
  parameter = http::trim(parameter);
  if (parameter.size() < 2 || (parameter[0] != 'q' && parameter[0] != 'Q') || parameter[1] != '=') return std::nullopt;
  return parse_qvalue(parameter.substr(2));
}

}  // namespace

void AcceptEncoding::add(std::string_view value) {
  http::ListCursor cursor{.rest = value};
  while (cursor.more) {
    const auto member = cursor.next();
    const auto semicolon = member.find(';');
    const auto name = http::trim(member.substr(0, semicolon));
    std::optional<std::int16_t> weight = std::int16_t{1000};
    if (semicolon != std::string_view::npos) weight = parse_weight(member.substr(semicolon + 1));
    if (!weight) continue;
    std::int16_t* slot = nullptr;
    if (name == "*") {
      slot = &any_;
    } else if (const auto coding = coding_of(name)) {
      slot = &named_[static_cast<std::size_t>(*coding)];
    }
    if (slot != nullptr && *slot == unset) *slot = *weight;
  }
}

std::int16_t AcceptEncoding::weight_of(Coding coding) const {
  const auto named = named_[static_cast<std::size_t>(coding)];
  return named != unset ? named : any_;
}

bool AcceptEncoding::accepts(Coding coding) const {
  const auto weight = weight_of(coding);
  return coding == Coding::identity ? weight != 0 : weight > 0;
}

std::optional<Coding> AcceptEncoding::choose(std::span<const Coding> ours) const {
  Coding best = Coding::identity;
  std::int16_t best_weight = 0;
  for (const auto coding : ours) {
    const auto weight = weight_of(coding);
    if (coding == Coding::identity || weight <= best_weight) continue;
    best = coding;
    best_weight = weight;
  }
  if (best_weight > 0 && weight_of(Coding::identity) <= best_weight) return best;
  if (!accepts(Coding::identity)) return std::nullopt;
  return Coding::identity;
}

}  // namespace brink::filter
