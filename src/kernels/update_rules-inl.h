// The rules of optimizers, for numbers and for vectors. Included inside a namespace that has sqrt,
// abs, pick and decayed (factor · state) for C: by ops/optimizer/update_loop.h, and once per
// instruction set by kernels/vector/update_vector.cpp.
//
// A rule is a struct of numbers, the operator's per-call attributes in their order, and computes
// one weight: it reads w, g and the states, returns the new weight and overwrites the states. kRule
// names its loop over vectors. The formulas are explained in ops/optimizer.

/// x within [−bound, bound]; a negative bound means no limit.
template <class C>
inline C clipped(C x, C bound) {
  return pick(bound >= C(0), pick(x < -bound, -bound, pick(bound < x, bound, x)), x);
}
template <class C>
inline C sign(C x) {
  return pick(x > C(0), C(1), pick(x < C(0), C(-1), C(0)));
}

/// w ← (1 − lr·wd)·w − lr·clip(rescale·g)
template <class C>
struct SgdRule {
  using Number = C;
  static constexpr UpdateRule kRule = UpdateRule::kSgd;
  static constexpr int kStates = 0, kValues = 4;
  C lr, wd, rescale, clip;
  C operator()(C w, C g, C*) const {
    return (C(1) - lr * wd) * w - lr * clipped(rescale * g, clip);
  }
};

/// m ← momentum·m − lr·wd·w − lr·clip(rescale·g),  w ← w + m
template <class C>
struct SgdMomRule {
  using Number = C;
  static constexpr UpdateRule kRule = UpdateRule::kSgdMom;
  static constexpr int kStates = 1, kValues = 5;
  C lr, momentum, wd, rescale, clip;
  C operator()(C w, C g, C* s) const {
    s[0] = decayed(momentum, s[0]) - lr * wd * w - lr * clipped(rescale * g, clip);
    return w + s[0];
  }
};

template <class C>
struct Adam {
  using Number = C;
  static constexpr UpdateRule kRule = UpdateRule::kAdam;
  static constexpr int kStates = 2, kValues = 7;
  C lr, beta1, beta2, epsilon, wd, rescale, clip;
  C operator()(C w, C g, C* s) const {
    const C h = clipped(rescale * g + wd * w, clip);
    s[0] = beta1 * s[0] + (C(1) - beta1) * h;
    s[1] = beta2 * s[1] + (C(1) - beta2) * h * h;
    return w - lr * s[0] / (sqrt(s[1]) + epsilon);
  }
};

template <class C>
struct AdamW {
  using Number = C;
  static constexpr UpdateRule kRule = UpdateRule::kAdamW;
  static constexpr int kStates = 2, kValues = 8;
  C lr, beta1, beta2, epsilon, wd, eta, clip, rescale;
  C operator()(C w, C g, C* s) const {
    const C h = clipped(rescale * g, clip);
    s[0] = beta1 * s[0] + (C(1) - beta1) * h;
    s[1] = beta2 * s[1] + (C(1) - beta2) * h * h;
    return w - eta * (lr * s[0] / (sqrt(s[1]) + epsilon) + wd * w);
  }
};

template <class C, bool in_place>
struct NagRule {
  using Number = C;
  static constexpr UpdateRule kRule = in_place ? UpdateRule::kNag : UpdateRule::kNagApart;
  static constexpr int kStates = 1, kValues = 5;
  C lr, momentum, wd, rescale, clip;
  C operator()(C w, C g, C* s) const {
    const C kept = decayed(momentum, s[0]), h = clipped(rescale * g, clip);
    const C next = w + decayed(momentum, kept) - (C(1) + momentum) * lr * (h + wd * w);
    s[0] = kept - lr * (h + wd * (in_place ? next : w));
    return next;
  }
};
template <class C>
using Nag = NagRule<C, true>;
template <class C>
using NagApart = NagRule<C, false>;

template <class C>
struct RmsProp {
  using Number = C;
  static constexpr UpdateRule kRule = UpdateRule::kRmsProp;
  static constexpr int kStates = 1, kValues = 7;
  C lr, gamma1, epsilon, wd, rescale, clip, clip_weights;
  C operator()(C w, C g, C* s) const {
    const C h = clipped(rescale * g + wd * w, clip);
    s[0] = (C(1) - gamma1) * h * h + gamma1 * s[0];
    return clipped(w - lr * h / sqrt(s[0] + epsilon), clip_weights);
  }
};

template <class C>
struct RmsPropAlex {
  using Number = C;
  static constexpr UpdateRule kRule = UpdateRule::kRmsPropAlex;
  static constexpr int kStates = 3, kValues = 8;
  C lr, gamma1, gamma2, epsilon, wd, rescale, clip, clip_weights;
  C operator()(C w, C g, C* s) const {
    const C h = clipped(rescale * g + wd * w, clip);
    s[0] = (C(1) - gamma1) * h * h + gamma1 * s[0];
    s[1] = (C(1) - gamma1) * h + gamma1 * s[1];
    s[2] = gamma2 * s[2] - lr * h / sqrt(s[0] - s[1] * s[1] + epsilon);
    return clipped(w + s[2], clip_weights);
  }
};

/// rest1 and rest2 are 1 − βᵗ.
template <class C>
struct Ftml {
  using Number = C;
  static constexpr UpdateRule kRule = UpdateRule::kFtml;
  static constexpr int kStates = 3, kValues = 8;
  C lr, beta1, beta2, epsilon, t, wd, rescale, clip;
  C rest1 = C(0), rest2 = C(0);
  C operator()(C w, C g, C* s) const {
    const C h = clipped(rescale * g + wd * w, clip);
    s[1] = beta2 * s[1] + (C(1) - beta2) * h * h;
    const C d = rest1 / lr * (sqrt(s[1] / rest2) + epsilon);
    s[2] = beta1 * s[2] + (C(1) - beta1) * h - (d - beta1 * s[0]) * w;
    s[0] = d;
    return -s[2] / d;
  }
};

template <class C>
struct Ftrl {
  using Number = C;
  static constexpr UpdateRule kRule = UpdateRule::kFtrl;
  static constexpr int kStates = 2, kValues = 6;
  C lr, lamda1, beta, wd, rescale, clip;
  C operator()(C w, C g, C* s) const {
    const C h = clipped(rescale * g, clip), squares = s[1] + h * h;
    s[0] = s[0] + (h - (sqrt(squares) - sqrt(s[1])) * w / lr);
    s[1] = squares;
    const C far = (sign(s[0]) * lamda1 - s[0]) / ((beta + sqrt(squares)) / lr + wd);
    return pick(abs(s[0]) > lamda1, far, C(0));
  }
};

template <class C>
struct SignSgd {
  using Number = C;
  static constexpr UpdateRule kRule = UpdateRule::kSignSgd;
  static constexpr int kStates = 0, kValues = 4;
  C lr, wd, rescale, clip;  // the last two do not affect the sign
  C operator()(C w, C g, C*) const { return (C(1) - lr * wd) * w - lr * sign(g); }
};

template <class C>
struct Signum {
  using Number = C;
  static constexpr UpdateRule kRule = UpdateRule::kSignum;
  static constexpr int kStates = 1, kValues = 6;
  C lr, momentum, wd, rescale, clip, wd_lh;
  C operator()(C w, C g, C* s) const {
    s[0] = decayed(momentum, s[0]) - (C(1) - momentum) * (wd * w + clipped(rescale * g, clip));
    return (C(1) - lr * wd_lh) * w + lr * sign(s[0]);
  }
};
