"""The attributes of streams."""

from ..._types.driver.enums import CUlaunchAttributeID as Attribute
from ..._types.driver.structs import CUstreamAttrValue
from ..addresses import Pointer
from ..library import provides
from ..refused import invalid
from .stream import GREATEST, LEAST, stream

ATTRIBUTES = (
    Attribute.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
    Attribute.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
    Attribute.CU_LAUNCH_ATTRIBUTE_PRIORITY,
    Attribute.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
    Attribute.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
)


@provides("driver")
def cuStreamCopyAttributes(dst: int, src: int) -> None:
    target, source = stream(dst), stream(src)
    for name, value in source.attributes.items():
        target.attributes[name] = _copied(value)


@provides("driver")
def cuStreamGetAttribute(hStream: int, attr: int) -> CUstreamAttrValue:
    in_stream = stream(hStream)
    name = _attribute(attr)
    value = in_stream.attributes.get(name)
    if value is not None:
        return value
    if name == Attribute.CU_LAUNCH_ATTRIBUTE_PRIORITY:
        return CUstreamAttrValue(priority=in_stream.priority)
    if name == Attribute.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        return CUstreamAttrValue(syncPolicy=1)  # CU_SYNC_POLICY_AUTO
    attribute = CUstreamAttrValue()
    if name == Attribute.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        attribute.memSyncDomainMap.remote = 1
    return attribute


@provides("driver")
def cuStreamSetAttribute(hStream: int, attr: int, value: Pointer) -> None:
    in_stream = stream(hStream)
    name = _attribute(attr)
    if name == Attribute.CU_LAUNCH_ATTRIBUTE_PRIORITY:
        in_stream.priority = min(LEAST, max(GREATEST, value[0].priority))
    else:
        in_stream.attributes[name] = _copied(value[0])


def _attribute(attr: int) -> Attribute:
    name = Attribute(attr)
    if name not in ATTRIBUTES:
        raise invalid(f"{name.name} is not an attribute of a stream")
    return name


def _copied(value: CUstreamAttrValue) -> CUstreamAttrValue:
    copy: CUstreamAttrValue = CUstreamAttrValue.from_buffer_copy(value)
    return copy
