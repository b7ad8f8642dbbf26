"""Regions of AWS and OCI. Both lists become outdated, so an unknown region must not be an error.

Sources: AWS, the enum Region of pulumi_aws 7.51.1; OCI, names and keys of oracle/oci-python-sdk
src/oci/regions_definitions.py (2025), if the name has the form that the stack file accepts.
"""

from typing import Final

AWS_REGIONS: Final = frozenset(
    {
        *("af-south-1", "ap-east-1", "ap-east-2", "ap-northeast-1", "ap-northeast-2"),
        *("ap-northeast-3", "ap-south-1", "ap-south-2", "ap-southeast-1", "ap-southeast-2"),
        *("ap-southeast-3", "ap-southeast-4", "ap-southeast-5", "ap-southeast-6"),
        *("ap-southeast-7", "ca-central-1", "ca-west-1", "eu-central-1", "eu-central-2"),
        *("eu-north-1", "eu-south-1", "eu-south-2", "eu-west-1", "eu-west-2", "eu-west-3"),
        *("il-central-1", "me-central-1", "me-south-1", "mx-central-1", "sa-east-1"),
        *("us-east-1", "us-east-2", "us-west-1", "us-west-2"),
    }
)
"""AWS' commercial regions."""

_OCI: Final[str] = """
yny ap-chuncheon-1   hyd ap-hyderabad-1   mel ap-melbourne-1     bom ap-mumbai-1
kix ap-osaka-1       icn ap-seoul-1       syd ap-sydney-1        nrt ap-tokyo-1
yul ca-montreal-1    yyz ca-toronto-1     ams eu-amsterdam-1     fra eu-frankfurt-1
zrh eu-zurich-1      jed me-jeddah-1      dxb me-dubai-1         gru sa-saopaulo-1
cwl uk-cardiff-1     lhr uk-london-1      iad us-ashburn-1       phx us-phoenix-1
sjc us-sanjose-1     vcp sa-vinhedo-1     scl sa-santiago-1      mtz il-jerusalem-1
mrs eu-marseille-1   sin ap-singapore-1   auh me-abudhabi-1      lin eu-milan-1
arn eu-stockholm-1   jnb af-johannesburg-1  cdg eu-paris-1       qro mx-queretaro-1
mad eu-madrid-1      ord us-chicago-1     mty mx-monterrey-1     aga us-saltlake-2
bog sa-bogota-1      vap sa-valparaiso-1  xsp ap-singapore-2     ruh me-riyadh-1
lfi us-langley-1     luf us-luke-1        nja ap-chiyoda-1       ukb ap-ibaraki-1
vll eu-madrid-2      str eu-frankfurt-2   beg eu-jovanovac-1     ebb us-somerset-1
ebl us-thames-1      avf eu-crissier-1    ahu me-abudhabi-3      rba me-alain-1
rkt me-abudhabi-2    shj me-abudhabi-4    dtz ap-seoul-2         dln ap-suwon-1
bno ap-chuncheon-2
"""
_FIELDS: Final = _OCI.split()

OCI_REGION_OF_KEY: Final[dict[str, str]] = dict(zip(_FIELDS[::2], _FIELDS[1::2], strict=True))
"""Key -> region: iad is us-ashburn-1. An OCID contains the key of an older region, or the name."""

OCI_REGIONS: Final = frozenset(OCI_REGION_OF_KEY.values())

_DOMAIN_REGIONS: Final = {"PHX": "us-phoenix-1", "US-ASHBURN": "us-ashburn-1"} | {
    region.upper(): region for region in OCI_REGIONS
}
"""Region in the name of an availability domain -> region. The two oldest regions are exceptions.

Source: https://docs.oracle.com/en-us/iaas/Content/General/Concepts/regions.htm ; inferred for all
regions from Uocm:PHX-AD-1, Uocm:US-ASHBURN-AD-1 and EU-FRANKFURT-1-AD-1.
"""


def region_of_ocid(ocid: str) -> str | None:
    """Return the region of an OCID; `None` if the OCID has none or the region is unknown.

    Source: https://docs.oracle.com/en-us/iaas/Content/General/Concepts/identifiers.htm.
    """
    key = ocid.split(".")[3]
    return key if key in OCI_REGIONS else OCI_REGION_OF_KEY.get(key)


def region_of_domain(name: str) -> str | None:
    """Return the region of an availability domain, such as Uocm:US-ASHBURN-AD-1."""
    return _DOMAIN_REGIONS.get(name.rpartition(":")[2].rpartition("-AD-")[0])
