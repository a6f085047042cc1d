#include "cache/redis/cluster.hpp"

#include <algorithm>
#include <utility>

namespace brink::cache::redis {
namespace {

using namespace std::chrono_literals;

// Between two questions for the map: every redirected command and every failure asks for one.
constexpr auto least_interval = 1s;
constexpr auto after_failed_round = 1s;
constexpr std::size_t most_links = 1'100;  // more than a map has nodes

}  // namespace

Cluster::Cluster(boost::asio::io_context& context, Link::Owner& owner, const Options& options, TlsContext tls, Ask ask)
    : context_(context),
      timer_(context),
      owner_(owner),
      options_(options),
      tls_(std::move(tls)),
      ask_(std::move(ask)) {}

Link* Cluster::open(const Node& node) {
  auto& link = links_[node.text()];
  if (!link && links_.size() > most_links) {
    links_.erase(node.text());
    return nullptr;
  }
  if (!link) {
    Options options = options_;
    options.nodes = {node};
    link = std::make_shared<Link>(context_, owner_, options, tls_, Locator::fixed(node));
  }
  return link.get();
}

Link* Cluster::find(unsigned slot) {
  const Node* node = map_.find(slot);
  return node == nullptr ? any() : open(*node);
}

Link* Cluster::any() {
  for (const auto* nodes : {&map_.nodes(), &options_.nodes}) {
    for (const Node& node : *nodes) {
      Link* link = open(node);
      if (link != nullptr && link->available()) return link;
    }
  }
  return open(options_.nodes.front());
}

bool Cluster::available() const {
  return links_.empty() ||
         std::any_of(links_.begin(), links_.end(), [](const auto& item) { return item.second->available(); });
}

void Cluster::moved(const Redirect& redirect) {
  map_.move(redirect.slot, redirect.node);
  refresh();
}

void Cluster::refresh() {
  if (refreshing_) return;
  refreshing_ = true;
  tried_ = 0;
  const Time due = refreshed_ + least_interval, now = Clock::now();
  wait(due > now ? due - now : Clock::duration{});
}

// Through the event loop even without a delay: no link is used from within its own loss.
void Cluster::wait(Clock::duration delay) {
  timer_.expires_after(delay);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!error && self && !self->closed_) self->ask_next();
  });
}

Node Cluster::candidate() const {
  const std::size_t at = next_ % (map_.nodes().size() + options_.nodes.size());
  return at < map_.nodes().size() ? map_.nodes()[at] : options_.nodes[at - map_.nodes().size()];
}

void Cluster::ask_next() {
  const std::size_t nodes = map_.nodes().size() + options_.nodes.size();
  while (tried_ < nodes) {
    ++tried_;
    Link* link = open(candidate());
    ++next_;
    if (link != nullptr && ask_(*link)) return;
  }
  tried_ = 0;
  wait(after_failed_round);
}

void Cluster::on_map(const Node& answered_by, const Result& result) {
  if (!result.ok() || !map_.read(result.reply, answered_by)) return wait({});
  refreshing_ = false;
  refreshed_ = Clock::now();
  drop_strangers();
}

// Nodes that left, and seeds by another name. Those still at work stay until the next map.
void Cluster::drop_strangers() {
  std::erase_if(links_, [this](const auto& item) {
    Link& link = *item.second;
    const bool stranger = !map_.contains(link.node()) && link.idle();
    if (stranger) link.close();
    return stranger;
  });
}

void Cluster::close() {
  closed_ = true;
  timer_.cancel();
  for (const auto& [name, link] : links_) link->close();
  links_.clear();
}

}  // namespace brink::cache::redis
