from ..nvvm import *
