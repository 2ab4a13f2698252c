"""stumpy: the matrix profile of a series, on the device as on the host."""

import numpy as np
import stumpy

series = np.random.default_rng(0).random(200)
there, here = stumpy.gpu_stump(series, 10), stumpy.stump(series, 10)
np.testing.assert_allclose(there[:, 0].astype(float), here[:, 0].astype(float), rtol=1e-6)
