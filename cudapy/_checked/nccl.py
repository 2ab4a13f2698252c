from ..nccl import *
