"""nvidia-ml-py: names, numbers, memory and utilization of the devices, and an error."""

import pynvml

pynvml.nvmlInit()
assert pynvml.nvmlDeviceGetCount() == 1
device = pynvml.nvmlDeviceGetHandleByIndex(0)
assert pynvml.nvmlDeviceGetName(device) == "cudapy simulator"
same = pynvml.nvmlDeviceGetHandleByUUID(pynvml.nvmlDeviceGetUUID(device))
assert pynvml.nvmlDeviceGetIndex(same) == 0
memory = pynvml.nvmlDeviceGetMemoryInfo(device)
assert memory.total == memory.free + memory.used > 0
assert pynvml.nvmlDeviceGetUtilizationRates(device).gpu == 0
try:
    pynvml.nvmlDeviceGetTemperature(device, pynvml.NVML_TEMPERATURE_GPU)
except pynvml.NVMLError_NotSupported:
    pynvml.nvmlShutdown()
else:
    raise AssertionError("the simulator has no sensors")
