from ..nvjitlink import *
