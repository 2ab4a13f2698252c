from ..cudla import *
