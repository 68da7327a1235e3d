"""Sizes that rows and models share; without an engine."""

BUCKETS = (10, 20, 30, 40)  # lengths of the sentences of lstm_bucket_*


def pyramid(height=480, width=640, smallest_face=20, factor=0.709):
    """The sizes (height, width) at which MTCNN's first network sees an image."""
    scale, sizes = 12 / smallest_face, []
    while min(height, width) * scale >= 12:
        sizes.append((int(-(-height * scale // 1)), int(-(-width * scale // 1))))
        scale *= factor
    return sizes
