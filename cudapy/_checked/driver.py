from ..driver import *
