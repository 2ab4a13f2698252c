from ..nvml import *
