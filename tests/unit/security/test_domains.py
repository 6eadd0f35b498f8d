"""Which hosts a list opens, as people write it."""

import pytest

from patchwright.core.security.hosts import Domain, read_domain


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("Example.com.", Domain(host="example.com")),
        (" example.com ", Domain(host="example.com")),
        ("example.com:8443", Domain(host="example.com", port=8443)),
        ("*.Example.com", Domain(host="example.com", with_subdomains=True)),
        ("bücher.example", Domain(host="xn--bcher-kva.example")),
        ("10.0.0.7", Domain(host="10.0.0.7")),
        ("10.0.0.7:80", Domain(host="10.0.0.7", port=80)),
        ("fd00::7", Domain(host="fd00::7")),
        ("[FD00::7]:8080", Domain(host="fd00::7", port=8080)),
        ("::ffff:10.0.0.7", Domain(host="10.0.0.7")),
        ("localhost", Domain(host="localhost")),
    ],
)
def test_a_host_is_read_as_it_goes_over_the_wire(text: str, domain: Domain) -> None:
    assert read_domain(text) == domain


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not a host"),
        ("a b", "is not a host"),
        ("a..example", "is not a host"),
        ("0x7f.1", "is not a host"),
        ("2130706433", "is not a host"),
        ("x" * 64 + ".example", "is not a host"),
        ("https://a.example", "write only the host"),
        ("a.example/path", "write only the host"),
        ("user@a.example", "write only the host"),
        ("*", "as \\*.example.com"),
        ("a*.example", "as \\*.example.com"),
        ("*.example", "at least two labels"),
        ("a.example:0", "there is no port 0"),
        ("a.example:65536", "there is no port 65536"),
        ("169.254.169.254", "metadata service is never open"),
        ("[fd00:ec2::254]", "metadata service is never open"),
        ("metadata.google.internal", "metadata service is never open"),
    ],
)
def test_what_is_no_host_is_refused_with_a_remedy(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_domain(text)


@pytest.mark.parametrize(
    ("granted", "wanted", "is_covered"),
    [
        ("a.example", "A.example", True),
        ("a.example", "a.example:443", True),
        ("a.example", "a.example:8443", False),
        ("a.example:8443", "a.example", False),
        ("*.example.com", "b.a.example.com", True),
        ("*.example.com", "*.a.example.com", True),
        ("*.example.com", "example.com", False),
        ("*.example.com", "badexample.com", False),
        ("example.com", "*.example.com", False),
        ("a.example.com", "example.com", False),
    ],
)
def test_a_host_opens_no_more_than_itself(
    granted: str, wanted: str, *, is_covered: bool
) -> None:
    assert read_domain(granted).covers(read_domain(wanted)) is is_covered
