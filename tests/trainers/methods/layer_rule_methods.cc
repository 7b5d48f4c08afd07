#include "trainers/methods/catalogue.h"

/// Methods that put a rule around the layers and send fp32, as a module; layer_rules_test.cc has
/// the rules.
namespace {

using namespace gradwire;

class WithLayerRule final : public methods::Method {
 public:
  explicit WithLayerRule(const methods::MethodSettings& settings)
      : rule_(settings.options.text("rule")), amount_(settings.options.number("amount")) {}

  methods::SetPlan plan(std::size_t, std::size_t) const override {
    methods::SetPlan plan;
    plan.up.codec = {.name = "none"};
    return plan;
  }
  methods::PassOptions passes() const override {
    methods::PassOptions options;
    options.layer_rules = {{rule_, {{"amount", amount_}}}};
    return options;
  }

 private:
  std::string rule_;
  double amount_;
};

std::vector<methods::MethodRow> rows() {
  const OptionSpec rule = {.name = "rule",
                           .type = OptionType::kText,
                           .default_text = "identity",
                           .help = "Rule around the layers."};
  const OptionSpec amount = {.name = "amount",
                             .type = OptionType::kNumber,
                             .default_text = "0",
                             .help = "How much it does.",
                             .min = 0,
                             .max = 1};
  return {{.name = "with-layer-rule",
           .summary = "a rule around the layers",
           .paper = "none: a test",
           .page = "adding-a-method.md",
           .options = {rule, amount},
           .make = [](const methods::MethodSettings& settings) -> std::unique_ptr<methods::Method> {
             return std::make_unique<WithLayerRule>(settings);
           }}};
}

}  // namespace

GRADWIRE_METHOD_MODULE(rows);
