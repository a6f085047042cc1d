#include "proxy/downstream/service.hpp"

namespace brink::downstream {

Service::Service(net::Loop& loop, http::Handler& handler, std::function<void()> on_close)
    : loop_(loop), handler_(handler), on_close_(std::move(on_close)) {}

Service::~Service() { close_all(); }

void Service::configure(const conf::DownstreamConfig& config) {
  config_ = config;
  head_limits_ = {config.limits.head, config.limits.fields, config.limits.target};
  trusted_ = net::Networks(config.trusted_proxies);
}

void Service::accept(net::Socket::Native&& socket, std::string peer, bool tcp) {
  const bool trusted = trusted_.contains(peer);
  boost::intrusive_ptr<Http1Session> session(new Http1Session(*this, std::move(socket), std::move(peer), trusted, tcp));
  intrusive_ptr_add_ref(session.get());  // the list's own, released in remove()
  sessions_.push_back(*session);
  session->start();
}

void Service::remove(Http1Session& session) {
  if (!session.is_linked()) return;
  sessions_.erase(sessions_.iterator_to(session));
  on_close_();
  intrusive_ptr_release(&session);
}

void Service::drain() {
  draining_ = true;
  for (Http1Session& session : sessions_) session.drain();
}

void Service::close_all() {
  while (!sessions_.empty()) {
    const boost::intrusive_ptr<Http1Session> session(&sessions_.front());
    session->close();
  }
}

std::unique_ptr<Active> Service::borrow_active() {
  if (free_.empty()) return std::make_unique<Active>();
  std::unique_ptr<Active> active = std::move(free_.back());
  free_.pop_back();
  return active;
}

void Service::give_back(std::unique_ptr<Active> active) {
  active->reset();
  if (free_.size() < max_kept_active) free_.push_back(std::move(active));
}

}  // namespace brink::downstream
