from ..cufile import *
