// A ring all-reduce in SimGrid, the peer that `bench flow` is held against. The same star as ours:
// a full-duplex link a worker, 50 us each way, the model CM02 without cross-traffic and TCP's
// window, all corrections off, which is its fastest: no acknowledgement couples the two directions
// of a link, so that every flow is alone.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {

std::vector<sg4::Host*> make_star(int workers) {
  auto* zone = sg4::create_star_zone("star");
  std::vector<sg4::Host*> hosts;
  for (int w = 0; w < workers; ++w) {
    const std::string number = std::to_string(w);
    auto* host = zone->create_host("host" + number, 1e9);
    auto* link = zone->create_split_duplex_link("link" + number, 125e6);
    link->set_latency(50e-6);
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {{link, sg4::LinkInRoute::Direction::UP}}, true);
    hosts.push_back(host);
  }
  zone->seal();
  return hosts;
}

/// An actor a worker: receives a hop, sends the next.
class Worker {
 public:
  Worker(int rank, int workers, double bytes) : rank_(rank), workers_(workers), bytes_(bytes) {}
  void operator()() const {
    auto* from = sg4::Mailbox::by_name("m" + std::to_string(rank_));
    auto* to = sg4::Mailbox::by_name("m" + std::to_string((rank_ + 1) % workers_));
    static int token = 0;
    for (int hop = 0; hop < 2 * (workers_ - 1); ++hop) {
      void* received = nullptr;
      const sg4::CommPtr incoming = from->get_async<int>(reinterpret_cast<int**>(&received));
      const sg4::CommPtr outgoing = to->put_async(&token, static_cast<std::uint64_t>(bytes_));
      incoming->wait();
      outgoing->wait();
    }
  }

 private:
  int rank_;
  int workers_;
  double bytes_;
};

/// No actors: the end of a hop starts the next one.
class CommRing {
 public:
  CommRing(std::vector<sg4::Host*> hosts, double bytes) : hosts_(std::move(hosts)), bytes_(bytes) {
    hops_.resize(hosts_.size(), 0);
    sg4::Activity::on_completion_cb([this](const sg4::Activity& activity) {
      const auto* comm = dynamic_cast<const sg4::Comm*>(&activity);
      const auto rank =
          static_cast<std::size_t>(std::atoi(comm->get_destination()->get_cname() + 4));
      send(rank);
    });
    for (std::size_t rank = 0; rank < hosts_.size(); ++rank) send(rank);
  }

 private:
  void send(std::size_t rank) {
    if (hops_[rank] == 2 * (static_cast<int>(hosts_.size()) - 1)) return;
    ++hops_[rank];
    const sg4::CommPtr comm =
        sg4::Comm::sendto_init(hosts_[rank], hosts_[(rank + 1) % hosts_.size()]);
    comm->set_payload_size(static_cast<std::uint64_t>(bytes_));
    live_.push_back(comm);  // SimGrid does not keep it
    comm->vetoable_start();
  }

  std::vector<sg4::Host*> hosts_;
  double bytes_;
  std::vector<int> hops_;
  std::vector<sg4::CommPtr> live_;
};

}  // namespace

int run_ring(const std::string& way, int workers, double bytes) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<sg4::Host*> hosts = make_star(workers);
  std::unique_ptr<CommRing> ring;
  if (way == "comms") {
    ring = std::make_unique<CommRing>(hosts, bytes);
  } else {
    for (int w = 0; w < workers; ++w) {
      sg4::Actor::create("w", hosts[static_cast<std::size_t>(w)], Worker(w, workers, bytes));
    }
  }
  sg4::Engine::get_instance()->run();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  std::printf("%lld %.9g %.9g\n", 2LL * (workers - 1) * workers, wall.count(),
              sg4::Engine::get_clock());
  return 0;
}
