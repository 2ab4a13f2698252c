from ..runtime import *
