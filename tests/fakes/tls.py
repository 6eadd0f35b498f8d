"""TLS in front of a plain server, with an authority made for the occasion."""

import contextlib
import ipaddress
import select
import socket
import ssl
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from patchwright.core.system.clock import SystemClock

CHUNK = 65_536


@dataclass(frozen=True)
class Authority:
    """Files in PEM: what clients must trust, and what the server shows."""

    bundle: Path
    certificate: Path
    key: Path


def make_authority(folder: Path, name: str, *hosts: str) -> Authority:
    """Make an authority and a certificate of it, for 127.0.0.1 and those hosts."""
    signer = ec.generate_private_key(ec.SECP256R1())
    key = ec.generate_private_key(ec.SECP256R1())
    root = _certify(name, signer.public_key(), name, signer)
    leaf = _certify("server", key.public_key(), name, signer, ("127.0.0.1", *hosts))
    made = Authority(*(folder / f"{name}-{part}.pem" for part in ("ca", "leaf", "key")))
    made.bundle.write_bytes(root.public_bytes(serialization.Encoding.PEM))
    made.certificate.write_bytes(leaf.public_bytes(serialization.Encoding.PEM))
    made.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return made


@contextlib.contextmanager
def tls_before(target: tuple[str, int], authority: Authority) -> Iterator[str]:
    """Serve a plain server over TLS as well; yield the address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.certificate, authority.key)

    class Forward(BaseRequestHandler):
        def handle(self) -> None:
            # A client that does not trust us hangs up in the middle.
            with (
                contextlib.suppress(OSError),
                context.wrap_socket(self.request, server_side=True) as near,
                socket.create_connection(target) as far,
            ):
                exchange(near, far)

    with ThreadingTCPServer(("127.0.0.1", 0), Forward) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"https://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def exchange(near: socket.socket, far: socket.socket) -> None:
    """Carry what either side says to the other, until one of them has ended.

    One thread does both: two must not use one connection of TLS at a time.
    """
    others = {near: far, far: near}
    while True:
        for source in _ready(others):
            data = _receive(source)
            if data == b"":
                return
            others[source].sendall(data or b"")


def _ready(sockets: Iterable[socket.socket]) -> list[socket.socket]:
    kept: list[socket.socket] = [
        one for one in sockets if isinstance(one, ssl.SSLSocket) and one.pending()
    ]
    return kept or select.select(list(sockets), [], [])[0]


def _receive(source: socket.socket) -> bytes | None:
    """Return what is there, b"" at the end, and None where it was TLS's own words."""
    source.setblocking(False)
    try:
        return source.recv(CHUNK)
    except (BlockingIOError, ssl.SSLWantReadError):
        return None
    finally:
        source.setblocking(True)


def _certify(
    subject: str,
    key: ec.EllipticCurvePublicKey,
    issuer: str,
    signer: ec.EllipticCurvePrivateKey,
    hosts: Sequence[str] = (),
) -> x509.Certificate:
    """Sign a certificate for these hosts, or for an authority where there are none."""
    now = SystemClock().now()
    constraints = x509.BasicConstraints(ca=not hosts, path_length=None)
    made = (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(constraints, critical=True)
        .add_extension(_usage(signs=not hosts), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()),
            critical=False,
        )
    )
    if hosts:
        names = x509.SubjectAlternativeName([_host(one) for one in hosts])
        made = made.add_extension(names, critical=False)
    return made.sign(signer, hashes.SHA256())


def _usage(*, signs: bool) -> x509.KeyUsage:
    """Return what the key is for, without which Python 3.13 trusts no certificate.

    https://docs.python.org/3/library/ssl.html#ssl.VERIFY_X509_STRICT
    """
    return x509.KeyUsage(
        digital_signature=not signs,
        key_cert_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _host(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
