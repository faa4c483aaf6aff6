"""A control: the person's own device re-ranks by the own profile, and nothing is published."""

from scipy.sparse import csr_array

from shoal.anonymizer.base import MethodInfo, Release
from shoal.anonymizer.methods.plain import Plain
from shoal.corpus.searches import Device, Search


class OwnDevice(Plain):
    """Guarantee: nothing is published, so nothing can be learned from it. The ranking is that of the own profile."""

    info = MethodInfo(
        id="device",
        title="The own profile, on the person's own device",
        paper="",
        unit="user",
        family="device",
        protects="Everything but the query: the device gets the candidates and re-ranks them by a profile it keeps.",
        does_not_protect="The queries themselves, which the engine still sees; and nobody whose server must rank.",
        cluster="blocks",
    )

    def choose(self, search: Search, device: Device, release: Release) -> csr_array:
        return device.own
