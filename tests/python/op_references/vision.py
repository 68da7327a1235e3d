"""Images: sampled at places, pooled over regions, compared, resized and cut."""
import math

import numpy as np


def _at(image, y, x):
    """Interpolates a channel-first image; outside it is 0."""
    value = np.zeros(image.shape[0])
    for row in (math.floor(y), math.floor(y) + 1):
        for column in (math.floor(x), math.floor(x) + 1):
            if 0 <= row < image.shape[1] and 0 <= column < image.shape[2]:
                value += image[:, row, column] * (1 - abs(y - row)) * (1 - abs(x - column))
    return value


def _sampled(images, grid):
    """Images at a grid (n, 2, h, w) of x and y, from -1 to 1 between opposite edges' pixels."""
    y = np.empty((*images.shape[:2], *grid.shape[2:]))
    for n, i, j in np.ndindex(len(images), *grid.shape[2:]):
        across, down = grid[n, :, i, j]
        y[n, :, i, j] = _at(images[n], (down + 1) * (images.shape[2] - 1) / 2,
                            (across + 1) * (images.shape[3] - 1) / 2)
    return y


def _images(d, low=2, high=5):
    return d.uniform((d.integer(1, 2), d.integer(1, 3), d.integer(low, high), d.integer(low, high)))


def _bilinear_sampler(d):
    x = _images(d)
    grid = d.uniform((len(x), 2, d.integer(1, 4), d.integer(1, 4)), -1.4, 1.4)
    return [x, grid], {}, [_sampled(x, grid)]


def _affine_grid(theta, target):
    down, across = np.meshgrid(np.linspace(-1, 1, target[0]), np.linspace(-1, 1, target[1]),
                               indexing="ij")
    places = np.stack([across, down, np.ones(target)])
    return np.einsum("nij,jhw->nihw", theta.reshape(-1, 2, 3), places)


def _grid_generator(d):
    target, n = (d.integer(2, 5), d.integer(2, 5)), d.integer(1, 3)
    if d.flag():
        theta = d.uniform((n, 6))
        return [theta], {"transform_type": "affine", "target_shape": target}, [
            _affine_grid(theta, target)]
    flow = d.uniform((n, 2, *target))
    down, across = np.indices(target).astype(float)
    place = np.stack([across, down]) + flow
    half = np.array([target[1] - 1, target[0] - 1]).reshape(1, 2, 1, 1) / 2
    return [flow], {"transform_type": "warp"}, [place / half - 1]


def _spatial_transformer(d):
    x, target = _images(d), (d.integer(2, 5), d.integer(2, 5))
    theta = d.uniform((len(x), 6), -1, 1)
    attrs = {"target_shape": target, "transform_type": "affine", "sampler_type": "bilinear"}
    return [x, theta], attrs, [_sampled(x, _affine_grid(theta, target))]


def _roi_pooling(d):
    size, pooled = (d.integer(3, 8), d.integer(3, 8)), (d.integer(1, 4), d.integer(1, 4))
    x = d.apart((d.integer(1, 2), d.integer(1, 2), *size))
    scale = d.one_of(1.0, 0.5, 0.25)
    regions, results = [], []
    for _ in range(d.integer(1, 3)):
        image = d.integer(0, len(x) - 1)
        # Corners in pixels of the feature map, also outside of it and in the wrong order.
        corners = [d.integer(-2, size[1 - i % 2] + 1) for i in range(4)]
        off = d.uniform((4,), -0.4, 0.4)
        regions.append([image, *((c + o) / scale for c, o in zip(corners, off))])
        left, top, right, bottom = corners
        high, wide = max(bottom - top + 1, 1), max(right - left + 1, 1)
        y = np.zeros((x.shape[1], *pooled))
        for i, j in np.ndindex(*pooled):
            rows = [top + i * high // pooled[0], top - (-(i + 1) * high // pooled[0])]
            columns = [left + j * wide // pooled[1], left - (-(j + 1) * wide // pooled[1])]
            (y0, y1), (x0, x1) = np.clip(rows, 0, size[0]), np.clip(columns, 0, size[1])
            if y0 < y1 and x0 < x1:
                y[:, i, j] = x[image, :, y0:y1, x0:x1].max(axis=(1, 2))
        results.append(y)
    return [x, np.array(regions)], {"pooled_size": pooled, "spatial_scale": scale}, [
        np.stack(results)]


def _correlation(d):
    kernel, far, pad = d.one_of(1, 3), d.integer(0, 3), d.integer(0, 3)
    stride1, stride2, multiply = d.integer(1, 2), d.integer(1, 2), d.flag()
    border = far + kernel // 2
    low = max(1, 2 * border + 1 - 2 * pad)
    n, c, h, w = d.integer(1, 2), d.integer(1, 3), d.integer(low, low + 3), d.integer(low, low + 3)
    a, b = d.uniform((n, c, h, w)), d.uniform((n, c, h, w))
    around = [(0, 0), (0, 0), (pad, pad), (pad, pad)]
    first, second = np.pad(a, around), np.pad(b, around)
    reach = far // stride2
    out = [-(-(m + 2 * pad - 2 * border) // stride1) for m in (h, w)]
    shifts = [(y * stride2, x * stride2) for y in range(-reach, reach + 1)
              for x in range(-reach, reach + 1)]
    result = np.empty((n, len(shifts), *out))
    for k, i, j in np.ndindex(*result.shape[1:]):
        y, x = i * stride1 + far, j * stride1 + far
        down, across = y + shifts[k][0], x + shifts[k][1]
        one = first[:, :, y:y + kernel, x:x + kernel]
        other = second[:, :, down:down + kernel, across:across + kernel]
        both = one * other if multiply else np.abs(one - other)
        result[:, k, i, j] = both.sum(axis=(1, 2, 3)) / (kernel * kernel * c)
    attrs = {"kernel_size": kernel, "max_displacement": far, "stride1": stride1, "stride2": stride2,
             "pad_size": pad, "is_multiply": multiply}
    return [a, b], attrs, [result]


def _place(i, old, new, corners):
    """The position of an output pixel in the input: corners on corners, or edges on edges.

    In MXNet an only pixel is the first one, either way."""
    if new == 1:
        return 0.0
    if corners:
        return i * (old - 1) / (new - 1)
    return max((i + 0.5) * old / new - 0.5, 0.0)


def _resized_sizes(d, size, mode, attrs):
    if mode == "size":
        if d.flag():
            target = (d.integer(1, 7), d.integer(1, 7))
            attrs.update(height=target[0], width=target[1])
            return target
        scales = d.one_of(0.5, 1.5, 2.0), d.one_of(0.5, 1.5, 2.0)
        attrs.update(scale_height=scales[0], scale_width=scales[1])
        return tuple(int(n * s) for n, s in zip(size, scales))
    if mode == "odd_scale":
        scales = d.one_of(0.5, 1.5, 2.0), d.one_of(0.5, 1.5, 2.0)
        attrs.update(scale_height=scales[0], scale_width=scales[1])
        return tuple(int(n * s) if n % 2 == 0 else int((n - 1) * s) + 1
                     for n, s in zip(size, scales))
    wanted, step = (1 if "odd" in mode else 0), (1 if mode.endswith("up") else -1)
    return tuple(n if n % 2 == wanted else n + step for n in size)


def _bilinear_resize(d):
    x, corners = _images(d, 2, 6), d.flag()
    mode = d.one_of("size", "size", "like", "odd_scale", "to_even_down", "to_even_up",
                    "to_odd_down", "to_odd_up")
    attrs, inputs, size = {"mode": mode, "align_corners": corners}, [x], x.shape[2:]
    if mode == "like":
        inputs.append(_images(d, 1, 7))
        new = inputs[1].shape[2:]
    else:
        new = _resized_sizes(d, size, mode, attrs)
    y = np.empty((*x.shape[:2], *new))
    for n, i, j in np.ndindex(len(x), *new):
        # The last row and column have no neighbour beyond: they stand for it.
        down = min(_place(i, size[0], new[0], corners), size[0] - 1)
        across = min(_place(j, size[1], new[1], corners), size[1] - 1)
        y[n, :, i, j] = _at(x[n], down, across)
    # Positions are float32, and so are the numbers.
    return inputs, attrs, [y.astype(np.float32)]


def _crop(d):
    x, like = _images(d, 2, 6), d.flag()
    window = tuple(d.integer(1, n) for n in x.shape[2:])
    inputs, attrs = [x], {"num_args": 1 + like}
    if like:
        inputs.append(d.uniform((x.shape[0], d.integer(1, 2), *window)))
    else:
        attrs["h_w"] = window
    room = [n - m for n, m in zip(x.shape[2:], window)]
    if d.flag():
        attrs["center_crop"] = True
        top, left = (r // 2 for r in room)
    else:
        attrs["offset"] = top, left = tuple(d.integer(0, r) for r in room)
    return inputs, attrs, [x[:, :, top:top + window[0], left:left + window[1]]]


def _window(d):
    """(attributes, image size, positions): a window that goes over images of one to three axes."""
    axes = d.integer(1, 3)
    kernel = tuple(d.integer(1, 3 if axes < 3 else 2) for _ in range(axes))
    stride, dilate, pad = (tuple(d.integer(low, 2) for _ in range(axes)) for low in (1, 1, 0))
    reach = [g * (k - 1) + 1 for k, g in zip(kernel, dilate)]
    size = tuple(max(1, r - 2 * p) + d.integer(0, 2) for r, p in zip(reach, pad))
    positions = tuple((n + 2 * p - r) // s + 1 for n, p, r, s in zip(size, pad, reach, stride))
    attrs = {"kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad}
    return attrs, size, positions


def _under(attrs, place, tap):
    """The position of a tap on the padded image for a window position."""
    return tuple(o * s + k * g for o, s, k, g in zip(place, attrs["stride"], tap, attrs["dilate"]))


def _im2col(d):
    attrs, size, positions = _window(d)
    n, c = d.integer(1, 2), d.integer(1, 3)
    x = d.uniform((n, c, *size))
    padded = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in attrs["pad"]])
    y = np.empty((n, c, *attrs["kernel"], *positions))
    for tap in np.ndindex(*attrs["kernel"]):
        for place in np.ndindex(*positions):
            y[(..., *tap, *place)] = padded[(..., *_under(attrs, place, tap))]
    return [x], attrs, [y.reshape(n, c * math.prod(attrs["kernel"]), math.prod(positions))]


def _col2im(d):
    attrs, size, positions = _window(d)
    n, c = d.integer(1, 2), d.integer(1, 3)
    x = d.uniform((n, c, *attrs["kernel"], *positions))
    y = np.zeros((n, c, *(m + 2 * p for m, p in zip(size, attrs["pad"]))))
    for tap in np.ndindex(*attrs["kernel"]):
        for place in np.ndindex(*positions):
            y[(..., *_under(attrs, place, tap))] += x[(..., *tap, *place)]
    inner = tuple(slice(p, p + m) for p, m in zip(attrs["pad"], size))
    flat = x.reshape(n, c * math.prod(attrs["kernel"]), math.prod(positions))
    return [flat], {"output_size": size, **attrs}, [y[(..., *inner)]]


ROWS = {
    "BilinearSampler": _bilinear_sampler, "GridGenerator": _grid_generator,
    "SpatialTransformer": _spatial_transformer, "ROIPooling": _roi_pooling,
    "Correlation": _correlation, "_contrib_BilinearResize2D": _bilinear_resize, "Crop": _crop,
    "im2col": _im2col, "col2im": _col2im,
}
GRADIENTS = {"BilinearSampler": None, "GridGenerator": None, "SpatialTransformer": None,
             "ROIPooling": [0], "Correlation": None, "_contrib_BilinearResize2D": [0], "Crop": [0],
             "im2col": [0], "col2im": [0]}
