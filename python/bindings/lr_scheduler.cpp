// Learning rate schedulers. The package's classes wrap these; for C++ a scheduler written in Python
// is a function.

#include <cmath>
#include <limits>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "fields.h"

namespace symbind::python {

nb::object field_to(const AttrField& field) {
  return std::visit(
      [](const auto* slot) -> nb::object {
        using T = std::decay_t<decltype(*slot)>;
        if constexpr (std::is_same_v<T, std::optional<double>>)
          return *slot ? nb::cast(**slot) : nb::none();
        else if constexpr (std::is_same_v<T, Tuple>) {
          nb::list list;
          for (const std::int64_t i : *slot) list.append(i);
          return list;
        } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
          return nb::cast(*slot);
        else
          throw Error(ErrorKind::kType, "an attribute of a type that Python does not see");
      },
      field.slot);
}

void field_from(AttrField& field, nb::handle value, const std::string& owner) {
  const auto misfit = [&](const char* wanted) {
    return Error(ErrorKind::kType, owner + ": " + field.name + " must be " + wanted + ", not " +
                                       nb::cast<std::string>(nb::repr(value)));
  };
  const auto real = [&]() -> double {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw misfit("a number");
    }
    return number;
  };
  std::visit(
      [&](auto* slot) {
        using T = std::decay_t<decltype(*slot)>;
        if constexpr (std::is_same_v<T, bool>) {
          const int truth = PyObject_IsTrue(value.ptr());
          if (truth < 0) throw nb::python_error();
          *slot = truth != 0;
        } else if constexpr (std::is_same_v<T, std::string>) {
          if (!nb::isinstance<nb::str>(value)) throw misfit("a text");
          *slot = nb::cast<std::string>(value);
        } else if constexpr (std::is_same_v<T, std::optional<double>>) {
          if (value.is_none())
            slot->reset();
          else
            *slot = real();
        } else if constexpr (std::is_same_v<T, Tuple>) {
          Tuple members;
          for (const nb::handle member : nb::iter(value)) {
            const double number = PyFloat_AsDouble(member.ptr());
            if (PyErr_Occurred() != nullptr) throw nb::python_error();
            if (!(std::abs(number) <= 0x1p53)) throw misfit("a list of whole numbers");
            members.push_back(static_cast<std::int64_t>(number));
          }
          *slot = std::move(members);
        } else if constexpr (std::is_floating_point_v<T>) {
          *slot = static_cast<T>(real());
        } else if constexpr (std::is_integral_v<T>) {
          const double number = real();
          if (number != std::trunc(number) || std::abs(number) > 0x1p53 ||
              number < static_cast<double>(std::numeric_limits<T>::min()) ||
              number > static_cast<double>(std::numeric_limits<T>::max()))
            throw misfit("a whole number");
          *slot = static_cast<T>(number);
        }
      },
      field.slot);
}

AttrField& field_of(Fields& fields, const std::string& name, const std::string& owner) {
  AttrField* field = fields.find(name);
  if (field == nullptr) throw Error(ErrorKind::kName, owner + " has no attribute " + name);
  return *field;
}

namespace {

/// The C++ base of a class written in Python: holds its fields, computes no rate.
class BareScheduler : public LRScheduler {
 public:
  using LRScheduler::LRScheduler;
  double operator()(std::int64_t) override {
    throw Error(ErrorKind::kNotImplemented, "must override this");
  }
};

std::shared_ptr<LRScheduler> make(const std::string& class_name, const nb::dict& given) {
  const auto number = [&](const char* name, double otherwise) {
    return given.contains(name) ? nb::cast<double>(given[name]) : otherwise;
  };
  const auto text = [&](const char* name, const char* otherwise) -> std::string {
    if (!given.contains(name) || given[name].is_none()) return otherwise;
    return nb::cast<std::string>(nb::str(nb::borrow(given[name])));
  };
  const auto whole = [&](const char* name) { return nb::cast<std::int64_t>(given[name]); };
  WarmUp warm_up{.base_lr = number("base_lr", 0.01),
                 .warmup_steps = static_cast<std::int64_t>(number("warmup_steps", 0)),
                 .warmup_begin_lr = number("warmup_begin_lr", 0)};
  if (given.contains("warmup_mode")) {
    const nb::object mode = nb::str(nb::borrow(given["warmup_mode"]));
    warm_up.warmup_mode = nb::cast<std::string>(mode);
  }
  if (class_name == "FactorScheduler")
    return std::make_shared<FactorScheduler>(whole("step"), number("factor", 1),
                                             number("stop_factor_lr", 1e-8), warm_up);
  if (class_name == "MultiFactorScheduler") {
    Tuple steps;
    for (const nb::handle step : nb::iter(given["step"]))
      steps.push_back(nb::cast<std::int64_t>(step));
    return std::make_shared<MultiFactorScheduler>(steps, number("factor", 1), warm_up);
  }
  if (class_name == "PolyScheduler")
    return std::make_shared<PolyScheduler>(whole("max_update"), number("pwr", 2),
                                           number("final_lr", 0), warm_up);
  if (class_name == "CosineScheduler")
    return std::make_shared<CosineScheduler>(whole("max_update"), number("final_lr", 0), warm_up);
  if (class_name == "LinearScheduler")
    return std::make_shared<LinearScheduler>(whole("max_update"), number("final_lr", 0), warm_up);
  if (class_name == "OneCycleScheduler")
    return std::make_shared<OneCycleScheduler>(
        whole("max_update"), OneCycleOptions{.max_lr = warm_up.base_lr,
                                             .pct_start = number("pct_start", 0.3),
                                             .div_factor = number("div_factor", 25),
                                             .final_div_factor = number("final_div_factor", 1e4),
                                             .anneal = text("anneal", "cos")});
  if (class_name == "ReduceOnPlateauScheduler")
    return std::make_shared<ReduceOnPlateauScheduler>(
        PlateauOptions{.metric = text("metric", ""),
                       .mode = text("mode", "auto"),
                       .factor = number("factor", 0.1),
                       .patience = static_cast<int>(number("patience", 10)),
                       .min_delta = number("min_delta", 0),
                       .cooldown = static_cast<int>(number("cooldown", 0)),
                       .min_lr = number("min_lr", 0)},
        warm_up);
  return std::make_shared<BareScheduler>(warm_up);
}

std::shared_ptr<LRScheduler> from_function(nb::object function) {
  auto held = std::make_shared<HeldObject>(std::move(function));
  return std::make_shared<FunctionScheduler>([held](std::int64_t num_update) {
    const nb::gil_scoped_acquire acquire;
    return nb::cast<double>(nb::float_(nb::object(held->object(num_update))));
  });
}

}  // namespace

void bind_lr_scheduler(nb::module_& m) {
  using S = LRScheduler;
  nb::class_<S>(m, "LRScheduler")
      .def("__call__", &S::operator(), nb::arg("num_update"))
      .def("get_warmup_lr", &S::get_warmup_lr, nb::arg("num_update"))
      .def("observe", &S::observe, nb::arg("values"))
      .def("get",
           [](S& s, const std::string& name) {
             Fields fields;
             s.describe(fields);
             return field_to(field_of(fields, name, "this scheduler"));
           })
      .def(
          "set",
          [](S& s, const std::string& name, nb::handle value) {
            Fields fields;
            s.describe(fields);
            field_from(field_of(fields, name, "this scheduler"), value, "LRScheduler");
          },
          nb::arg("name"), nb::arg("value").none())
      .def("names", [](S& s) {
        Fields fields;
        s.describe(fields);
        nb::list names;
        for (const AttrField& field : fields.attributes.fields()) names.append(field.name);
        return names;
      });
  m.def("make_lr_scheduler", &make, nb::arg("class_name"), nb::arg("params"));
  m.def("function_scheduler", &from_function, nb::arg("function"));
}

}  // namespace symbind::python
