// SPDX-License-Identifier: GPL-2.0-only
#include <ns3/boolean.h>
#include <ns3/config.h>
#include <ns3/double.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-generator.h>
#include <ns3/ipv4-static-routing-helper.h>
#include <ns3/ipv4.h>
#include <ns3/lte-helper.h>
#include <ns3/lte-ue-net-device.h>
#include <ns3/lte-ue-rrc.h>
#include <ns3/point-to-point-epc-helper.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/string.h>
#include <ns3/uinteger.h>
#include <ns3/virtual-net-device.h>

#include <cmath>

#include "sim/packet/program/radio_cell.h"
#include "sim/sim_error.h"

namespace gradwire::sim {
namespace {

constexpr double kBlock =
    200e3;  // Hz of the channel's width a resource block, guard bands included
constexpr std::uint64_t kRlcBuffer = 1'000'000;
constexpr std::uint32_t kWireMtu = 9000;

/// The period of sounding signals bounds how many phones one base can serve; beyond it ns-3 leaves
/// some unserved without a word.
std::uint64_t sounding_period(std::size_t stations) {
  for (const std::uint64_t period : {40u, 80u, 160u, 320u})
    if (stations <= period) return period;
  throw SimError("build", "an LTE cell of " + std::to_string(stations) + " stations",
                 "a base serves at most 320", "make more cells of them");
}

std::uint64_t blocks_of(double width) {
  return width < 2e6 ? 6 : static_cast<std::uint64_t>(std::llround(width / kBlock));
}

/// What the cells of a simulation share: numbers of bases and phones, by which ns-3 finds the other
/// end of a radio link, and the channel. Each cell has carriers of its own, 20 MHz or more from the
/// next cell's: cells do not disturb each other.
class SharedRadio {
 public:
  explicit SharedRadio(double exponent) : exponent_(exponent) {
    if (!helper_) {
      helper_ = ns3::CreateObject<ns3::LteHelper>();
      first_exponent_ = exponent;
      // Every core network has the same addresses inside, which never meet.
      ns3::Ipv4AddressGenerator::TestMode();
    }
    number_ = cells_++;
    if (number_ >= kMostCells)
      throw SimError("build", std::to_string(number_ + 1) + " LTE cells",
                     "their carriers do not fit into the band", "make fewer cells of them");
    if (exponent_ != first_exponent_)
      throw SimError("build", "LTE cells", "their path loss exponents differ",
                     "give all of them one exponent");
  }
  SharedRadio(const SharedRadio&) = delete;
  SharedRadio& operator=(const SharedRadio&) = delete;
  ~SharedRadio() {
    if (--cells_ == 0) helper_ = nullptr;
  }

  ns3::LteHelper* operator->() const { return ns3::PeekPointer(helper_); }
  /// Channel numbers (100 kHz each; 3GPP TS 36.101, band 1 and beyond it).
  std::uint64_t down_carrier() const { return 100 + kSpacing * number_; }
  std::uint64_t up_carrier() const { return 18100 + kSpacing * number_; }

 private:
  static constexpr std::uint64_t kSpacing = 200;
  static constexpr std::uint64_t kMostCells = 3;
  static inline ns3::Ptr<ns3::LteHelper> helper_;
  static inline double first_exponent_ = 0;
  static inline std::uint64_t cells_ = 0;
  double exponent_;
  std::uint64_t number_ = 0;
};

/// A phone's traffic leaves the core network by its gateway, which is wired to the cell's base in
/// the cluster without any cost: rate and delay of the way are those of the radio.
class LteCell final : public RadioCell {
 public:
  explicit LteCell(CellNodes nodes) : RadioCell(std::move(nodes)), lte_(nodes_.cell.exponent) {
    set_defaults();
    core_ = ns3::CreateObject<ns3::PointToPointEpcHelper>();
    set_radio();
    const ns3::Ptr<ns3::Node> mast = ns3::CreateObject<ns3::Node>();
    motion_.place_base(mast);
    mast_ = lte_->InstallEnbDevice(ns3::NodeContainer(mast)).Get(0);
    ns3::NodeContainer phones;
    for (std::size_t i = 0; i < nodes_.stations.size(); ++i) {
      motion_.place(i, nodes_.stations[i]);
      phones.Add(nodes_.stations[i]);
    }
    phones_ = lte_->InstallUeDevice(phones);
    for (std::size_t i = 0; i < nodes_.stations.size(); ++i)
      add_interface(station_device(i), nodes_.addresses[i]);
    lte_->Attach(phones_, mast_);
    wire_gateway();
  }

  ns3::Ptr<ns3::NetDevice> station_device(std::size_t station) const override {
    return phones_.Get(static_cast<std::uint32_t>(station));
  }
  ns3::Ptr<ns3::NetDevice> base_device() const override { return base_; }
  bool connected(std::size_t station) const override {
    const auto device = ns3::DynamicCast<ns3::LteUeNetDevice>(station_device(station));
    return device->GetRrc()->GetState() == ns3::LteUeRrc::CONNECTED_NORMALLY;
  }

 private:
  void set_defaults() const {
    ns3::Config::SetDefault("ns3::LteEnbRrc::SrsPeriodicity",
                            ns3::UintegerValue(sounding_period(nodes_.stations.size())));
    ns3::Config::SetDefault("ns3::LteEnbRrc::EpsBearerToRlcMapping",
                            ns3::StringValue("RlcAmAlways"));
    // The default of 10 kB drops most of what TCP sends.
    ns3::Config::SetDefault("ns3::LteRlcAm::MaxTxBufferSize", ns3::UintegerValue(kRlcBuffer));
    const Radio& radio = radio_of(Cell::Kind::kLte);
    const auto set = [](const char* name, double value) {
      ns3::Config::SetDefault(name, ns3::DoubleValue(value));
    };
    set("ns3::LteEnbPhy::TxPower", radio.base_power);
    set("ns3::LteEnbPhy::NoiseFigure", radio.base_noise);
    set("ns3::LteUePhy::TxPower", radio.station_power);
    set("ns3::LteUePhy::NoiseFigure", radio.station_noise);
  }

  void set_radio() {
    lte_->SetEpcHelper(core_);
    lte_->SetSchedulerType("ns3::PfFfMacScheduler");
    lte_->SetAttribute("PathlossModel", ns3::StringValue("ns3::LogDistancePropagationLossModel"));
    lte_->SetPathlossModelAttribute("Exponent", ns3::DoubleValue(nodes_.cell.exponent));
    lte_->SetPathlossModelAttribute("ReferenceLoss",
                                    ns3::DoubleValue(radio_of(Cell::Kind::kLte).reference_loss));
    const ns3::UintegerValue blocks(blocks_of(nodes_.cell.width));
    lte_->SetEnbDeviceAttribute("DlBandwidth", blocks);
    lte_->SetEnbDeviceAttribute("UlBandwidth", blocks);
    const ns3::UintegerValue down(lte_.down_carrier()), up(lte_.up_carrier());
    lte_->SetEnbDeviceAttribute("DlEarfcn", down);
    lte_->SetEnbDeviceAttribute("UlEarfcn", up);
    lte_->SetUeDeviceAttribute("DlEarfcn", down);
  }

  void wire_gateway() {
    const ns3::Ptr<ns3::Node> gateway = core_->GetPgwNode();
    ns3::PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", ns3::StringValue("100Gbps"));
    wire.SetDeviceAttribute("Mtu", ns3::UintegerValue(kWireMtu));
    wire.SetChannelAttribute("Delay", ns3::StringValue("0ns"));
    const ns3::NetDeviceContainer ends = wire.Install(nodes_.base, gateway);
    base_ = ends.Get(0);
    add_interface(base_, nodes_.base_address);
    const std::uint32_t outside = add_interface(ends.Get(1), ns3::Ipv4Address("172.31.255.254"));
    const auto routes =
        ns3::Ipv4StaticRoutingHelper().GetStaticRouting(gateway->GetObject<ns3::Ipv4>());
    routes->SetDefaultRoute(nodes_.base_address, outside);
    for (const ns3::Ipv4Address& phone : nodes_.addresses)
      routes->AddHostRouteTo(phone, tunnel(gateway));
  }

  static std::uint32_t tunnel(ns3::Ptr<ns3::Node> gateway) {
    for (std::uint32_t i = 0; i < gateway->GetNDevices(); ++i) {
      const auto device = gateway->GetDevice(i);
      if (ns3::DynamicCast<ns3::VirtualNetDevice>(device))
        return static_cast<std::uint32_t>(
            gateway->GetObject<ns3::Ipv4>()->GetInterfaceForDevice(device));
    }
    GRADWIRE_ASSERT(false);
  }

  ns3::Ptr<ns3::PointToPointEpcHelper> core_;
  SharedRadio lte_;
  ns3::Ptr<ns3::NetDevice> mast_, base_;
  ns3::NetDeviceContainer phones_;
};

}  // namespace

std::unique_ptr<RadioCell> make_lte_cell(CellNodes nodes) {
  return std::make_unique<LteCell>(std::move(nodes));
}

}  // namespace gradwire::sim
