// Choosing a kernel.
//
// Decided here: kernels are tried in the operator's order and the first that accepts runs. The last
// one is never forbidden, so every operator has a kernel. `-onednn` forbids `onednn_winograd` and
// every other kernel of that family too.
//
// Arrays without elements (a batch of 0 images, an empty slice): a node whose outputs all have no
// elements is skipped; its input values are not checked, as in MXNet. A node with elements to
// write runs even if its inputs have none: a sum over nothing is 0, a product 1, a mean NaN; an
// operator that must pick from nothing refuses by name. Three kinds of operators run in any case:
// those that write an input (their kernels handle a batch of 0), those whose output shape depends
// on values (their kernels check that the values select nothing), and custom operators.

#include "graph/select_kernel.h"

#include <algorithm>

#include <fmt/format.h>
#include <symbind/log.h>

#include "base/check.h"
#include "base/settings.h"

namespace symbind {
namespace {

/// Whether no kernel of the operator has anything to compute.
bool nothing_to_compute(const OpDef& op, const void* attrs, const std::vector<TensorDesc>& out) {
  if (op.runs_user_code || op.mutates_any(attrs) || op.shape_from_values) return false;
  const auto is_empty = [](const TensorDesc& d) { return d.shape.size() == 0; };
  return !out.empty() && std::ranges::all_of(out, is_empty);
}

const KernelDef& empty_kernel() {
  static const KernelDef kernel{
      .device = DeviceType::kCpu,
      .name = "empty",
      .offer = [](const void*, const KernelRequest& r) { return accept_plain(r); },
      .prepare = [](const void*, const KernelRequest&, const Offer&) -> Prepared {
        return [](const Args&) {};
      }};
  return kernel;
}

bool is_plain(const std::vector<TensorDesc>& descs, const std::vector<Layout>& layouts) {
  for (std::size_t i = 0; i < descs.size(); ++i) {
    if (!same_bytes(descs[i].shape, Layout::kPlain, layouts[i])) return false;
  }
  return true;
}

bool is_forbidden(const std::string& name) {
  const std::string family = name.substr(0, name.find('_'));
  return settings::has_item("SYMBIND_KERNELS", "-" + name) ||
         settings::has_item("SYMBIND_KERNELS", "-" + family);
}

Offer offer_of(const KernelDef& kernel, bool is_last, const void* attrs, const KernelRequest& r,
               const KernelLimits& limits) {
  if (!is_last && is_forbidden(kernel.name)) return refuse("forbidden by SYMBIND_KERNELS");
  Offer offer = kernel.offer(attrs, r);
  if (offer.accepted() && limits.plain_only &&
      !(is_plain(r.in, offer.in_layouts) && is_plain(r.out, offer.out_layouts)))
    return refuse("needs a blocked layout");
  return offer;
}

const KernelDef* last_of(const OpDef& op, DeviceType device) {
  const KernelDef* last = nullptr;
  for (const KernelDef& kernel : op.kernels)
    if (kernel.device == device) last = &kernel;
  return last;
}

KernelChoice first_accepting(const OpDef& op, const void* attrs, const KernelRequest& r,
                             const std::string& title, const KernelLimits& limits) {
  KernelChoice choice;
  const KernelDef* last = last_of(op, r.device);
  for (const KernelDef& kernel : op.kernels) {
    if (kernel.device != r.device) continue;
    if (!limits.only.empty() && kernel.name != limits.only) continue;
    choice.offer = offer_of(kernel, &kernel == last, attrs, r, limits);
    if (choice.offer.accepted()) {
      choice.kernel = &kernel;
      return choice;
    }
    choice.refusals.push_back(kernel.name + ": " + choice.offer.refusal);
  }
  fail(ErrorKind::kNotImplemented, "{} has no kernel for {}{}{}", title,
       r.device == DeviceType::kGpu ? "gpu" : "cpu", choice.refusals.empty() ? "" : ": ",
       fmt::join(choice.refusals, "; "));
}

}  // namespace

KernelChoice select_kernel(const OpDef& op, const void* attrs, const KernelRequest& r,
                           const std::string& title, const KernelLimits& limits) {
  if (nothing_to_compute(op, attrs, r.out))
    return {.kernel = &empty_kernel(), .offer = accept_plain(r), .refusals = {}};
  KernelChoice choice = first_accepting(op, attrs, r, title, limits);
  if (settings::has_item("SYMBIND_LOG", "dispatch")) {
    log_info(fmt::format("dispatch {}: {} ({})", title, choice.kernel->name,
                         fmt::join(choice.refusals, "; ")));
  }
  return choice;
}

bool has_offer(const OpDef& op, const void* attrs, const KernelRequest& r) {
  const KernelDef* last = last_of(op, r.device);
  return std::ranges::any_of(op.kernels, [&](const KernelDef& kernel) {
    return kernel.device == r.device && &kernel != last &&
           offer_of(kernel, false, attrs, r, {}).accepted();
  });
}

}  // namespace symbind
