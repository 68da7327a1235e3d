// Operators written in Python: the C++ operator Custom queries a CustomOpProp for its description
// and runs its CustomOp. The package makes the calls (symbind/operator.py).
//
// The GIL is acquired for each call into Python and released after it. A Python exception becomes
// an Error with the traceback.

#include <nanobind/stl/vector.h>

#include <symbind/custom.h>

#include "convert.h"
#include "in_python.h"

namespace symbind::python {
namespace {

nb::list shape_lists(const std::vector<Shape>& shapes) {
  nb::list all;
  for (const Shape& shape : shapes) {
    const Shape user = to_user(shape);
    nb::list dims;
    for (const std::int64_t dim : user) dims.append(dim);
    all.append(dims);
  }
  return all;
}

/// The two or three lists that infer_shape and infer_type return.
template <class T, class F>
T three_lists(nb::handle result, const char* function, F&& convert) {
  std::vector<nb::object> lists;
  for (const nb::handle list : result) lists.push_back(nb::borrow(list));
  if (lists.size() != 2 && lists.size() != 3)
    throw Error(ErrorKind::kValue, std::string(function) + " must return 2 or 3 lists, not " +
                                       std::to_string(lists.size()));
  T all;
  const auto fill = [&](auto& into, const nb::object& list) {
    for (const nb::handle item : list) into.push_back(convert(item));
  };
  fill(all.in, lists[0]);
  fill(all.out, lists[1]);
  if (lists.size() == 3) fill(all.aux, lists[2]);
  return all;
}

nb::list requests_to(const std::vector<StoreReq>& requests) {
  static constexpr const char* kNames[] = {"null", "write", "inplace", "add"};
  nb::list all;
  for (const StoreReq req : requests) all.append(kNames[static_cast<std::size_t>(req)]);
  return all;
}

nb::list array_list(const std::vector<NDArray>& arrays, bool writable) {
  nb::list all;
  for (const NDArray& array : arrays) {
    const nb::object object = array_to(array);
    if (!writable) object.attr("writable") = false;
    all.append(object);
  }
  return all;
}

class PythonKernel : public CustomKernel {
 public:
  PythonKernel(const std::string& op_type, Context context, nb::object op)
      : title_("custom operator '" + op_type + "': "), context_(context), op_(std::move(op)) {}

  void forward(CustomForward c) override {
    in_python(title_ + "forward", [&] {
      registered("custom_forward")(op_.object, context_to(context_), c.is_train, requests_to(c.req),
                                   array_list(c.in, false), array_list(c.out, true),
                                   array_list(c.aux, true));
    });
  }
  void backward(CustomBackward c) override {
    in_python(title_ + "backward", [&] {
      registered("custom_backward")(op_.object, context_to(context_), requests_to(c.req),
                                    array_list(c.out_grad, false), array_list(c.in, false),
                                    array_list(c.out, false), array_list(c.in_grad, true),
                                    array_list(c.aux, true));
    });
  }

 private:
  std::string title_;
  Context context_;
  HeldObject op_;
};

class PythonDescription : public CustomOpDescription {
 public:
  PythonDescription(std::string op_type, nb::object prop)
      : op_type_(std::move(op_type)), prop_(std::move(prop)) {}

  std::vector<std::string> inputs() const override { return names("list_arguments"); }
  std::vector<std::string> outputs() const override { return names("list_outputs"); }
  std::vector<std::string> aux() const override { return names("list_auxiliary_states"); }

  CustomShapes infer_shape(const std::vector<Shape>& in) const override {
    return in_python(title("infer_shape"), [&] {
      return three_lists<CustomShapes>(
          prop_.object.attr("infer_shape")(shape_lists(in)), "infer_shape",
          [](nb::handle shape) { return from_user(shape_from(shape)); });
    });
  }
  CustomTypes infer_type(const std::vector<DType>& in) const override {
    return in_python(title("infer_type"), [&] {
      nb::list types;
      for (const DType dtype : in) types.append(dtype_to(dtype));
      return three_lists<CustomTypes>(
          prop_.object.attr("infer_type")(types), "infer_type",
          [](nb::handle type) { return type.is_none() ? DType::kUnknown : dtype_from(type); });
    });
  }
  std::vector<int> backward_reads() const override {
    const int num_in = static_cast<int>(inputs().size());
    const int num_out = static_cast<int>(outputs().size());
    return in_python(title("declare_backward_dependency"), [&] {
      const auto numbers = [](int first, int count) {
        nb::list all;
        for (int i = 0; i < count; ++i) all.append(first + i);
        return all;
      };
      std::vector<int> reads;
      for (const nb::handle number : nb::object(prop_.object.attr("declare_backward_dependency")(
               numbers(0, num_out), numbers(num_out, num_in), numbers(num_out + num_in, num_out))))
        reads.push_back(nb::cast<int>(number));
      return reads;
    });
  }
  std::shared_ptr<CustomKernel> create(Context context, const std::vector<Shape>& shapes,
                                       const std::vector<DType>& dtypes) const override {
    return in_python(title("create_operator"), [&]() -> std::shared_ptr<CustomKernel> {
      nb::list flags;  // numbers, as MXNet gives them
      for (const DType dtype : dtypes) flags.append(static_cast<int>(dtype));
      nb::object op =
          prop_.object.attr("create_operator")(context_to(context), shape_lists(shapes), flags);
      if (op.is_none()) return nullptr;
      return std::make_shared<PythonKernel>(op_type_, context, std::move(op));
    });
  }

 private:
  std::string title(const char* function) const {
    return "custom operator '" + op_type_ + "': " + function;
  }
  std::vector<std::string> names(const char* function) const {
    return in_python(title(function), [&] {
      std::vector<std::string> all;
      for (const nb::handle name : nb::object(prop_.object.attr(function)()))
        all.push_back(nb::cast<std::string>(name));
      return all;
    });
  }

  std::string op_type_;
  HeldObject prop_;
};

CustomDescriptionPtr describe(const std::string& op_type, const AttrDict& attrs) {
  return in_python("custom operator '" + op_type + "': its CustomOpProp",
                   [&]() -> CustomDescriptionPtr {
                     nb::dict kwargs;
                     for (const auto& [key, value] : attrs) kwargs[key.c_str()] = value;
                     nb::object prop = registered("create_custom")(op_type, kwargs);
                     if (prop.is_none()) return nullptr;
                     return std::make_shared<PythonDescription>(op_type, std::move(prop));
                   });
}

}  // namespace

void bind_custom(nb::module_&) { register_custom_factory(&describe); }

}  // namespace symbind::python
