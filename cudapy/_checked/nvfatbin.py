from ..nvfatbin import *
