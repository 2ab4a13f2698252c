from ..nvrtc import *
