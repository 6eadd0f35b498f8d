"""No form of a secret survives."""

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, SecretStr

from patchwright.core.text.redaction import REDACTED, Redactor

SECRET = 's3cr&t+/"wörd"\\x'
PEM = "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\n"
BODY = "\n".join(["MIIEpAIBAAKCAQEA" + "abcDEF123+/=" * 4] * 3)

SECRETS = st.text(min_size=6, max_size=24).filter(lambda text: len(text.strip()) >= 6)


def forms(secret: str) -> list[str]:
    raw = secret.encode()
    padded = [b"", b"x", b"xy"]
    return [
        secret,
        raw.hex(),
        raw.hex().upper(),
        *(base64.b64encode(before + raw + b"tail").decode() for before in padded),
        *(base64.urlsafe_b64encode(before + raw).decode() for before in padded),
        quote(secret),
        quote(secret, safe=""),
        quote_plus(secret),
        "s3cr%26t%2b%2f%22w%c3%b6rd%22%5cx",
        json.dumps(secret),
        json.dumps(secret, ensure_ascii=False),
        json.dumps(json.dumps({"key": secret})),
        html.escape(secret),
    ]


@pytest.mark.parametrize("form", forms(SECRET))
def test_s83_a_known_secret_is_redacted_in_every_form(form: str) -> None:
    redacted = Redactor([SecretStr(SECRET)]).redact(f"before {form} after")
    assert redacted.startswith("before ")
    assert redacted.endswith(" after")
    assert REDACTED in redacted
    # What may be left is the neighbours that share a digit with the secret.
    assert len(redacted.replace(REDACTED, "")) < len("before  after") + 18


GITHUB = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        (f"token {GITHUB}.", "token [***]."),
        (f"\n{GITHUB}\n", "\n[***]\n"),
        ("gho_" + "x1" * 18, REDACTED),
        ("ghu_" + "x1" * 18, REDACTED),
        ("ghs_" + "x1" * 18, REDACTED),
        ("ghs_12345_eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxIn0.c2lnbmF0dXJl", REDACTED),
        ("ghr_" + "x1" * 18, REDACTED),
        ("github_pat_" + "A1" * 11 + "_" + "b2" * 29, REDACTED),
        ("sk-" + "a1" * 24, REDACTED),
        ("sk-proj-" + "a1_-" * 10, REDACTED),
        ("sk-ant-api03-" + "a1_-" * 20, REDACTED),
        ("xoxb-1234567890-1234567890-abcdefABCDEF", REDACTED),
        ("xapp-1-A01-123-abcdef0123", REDACTED),
        ("AKIAIOSFODNN7EXAMPLE", REDACTED),
        ("AIza" + "a1_-b" * 7, REDACTED),
        ("glpat-" + "a1B2" * 5, REDACTED),
        ("npm_" + "a1B2" * 9, REDACTED),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", REDACTED),
        (f"a {PEM.format(BODY)}b", "a [***]\nb"),
        (json.dumps(PEM.format(BODY)), '"[***]\\n"'),
        (
            "curl -H 'Authorization: Basic dXNlcjpwYXNz'",
            "curl -H 'Authorization: Basic [***]'",
        ),
        ("Authorization: Bearer abcdef0123456789", "Authorization: Bearer [***]"),
        (
            "https://x-access-token:abc@github.com/a/b",
            "https://x-access-token:[***]@github.com/a/b",
        ),
        ("postgresql://me:pä$$@db/x", "postgresql://me:[***]@db/x"),
        ("https://abcdefghij0123456789@github.com/a", "https://[***]@github.com/a"),
    ],
)
def test_s83_known_formats_are_redacted_without_knowing_the_value(
    text: str, redacted: str
) -> None:
    assert Redactor().redact(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a normal text about ghp_ and sk- prefixes",
        "the task-list-of-things-to-do-later is long",
        "sk-folding-cube-container-element",
        "ssh://git@github.com/a/b",
        "mail me at a@b.example, see https://x.y/z",
        "https://x.y/a:b/c d@e",
        "the bearer of this message",
        "commit 3f2a91c0d4e53f2a91c0d4e53f2a91c0d4e53f2a",
        "-----BEGIN PUBLIC KEY-----",
        "https://user:[***]@host",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert Redactor(["another-secret"]).redact(text) == text


def test_s82_a_key_is_redacted_line_by_line() -> None:
    redactor = Redactor([PEM.format(BODY)])
    line = BODY.splitlines()[0]
    assert redactor.redact(f"log: {line} end") == "log: [***] end"


def test_a_very_short_secret_is_left_alone() -> None:
    assert Redactor(["abc", "", " x\n"]).redact("abcabc x") == "abcabc x"


def test_a_secret_that_resembles_the_blot_comes_to_rest() -> None:
    redactor = Redactor(["******", "[***][***]", "secret"])
    once = redactor.redact("secretsecret ******* secret******")
    assert redactor.redact(once) == once


def test_a_json_tree_is_redacted_with_its_keys() -> None:
    tree: JsonValue = {SECRET: [SECRET, {"a": f"x{SECRET}"}, 1, None, True], "b": 1.5}
    assert Redactor([SECRET]).redact_json(tree) == {
        REDACTED: [REDACTED, {"a": f"x{REDACTED}"}, 1, None, True],
        "b": 1.5,
    }


def test_a_secret_in_json_within_json_within_json_is_found() -> None:
    tree: JsonValue = {"arguments": json.dumps(json.dumps({"key": 'a"b"c"d'}))}
    redacted = json.dumps(Redactor(['a"b"c"d']).redact_json(tree))
    assert REDACTED in redacted
    assert "b" not in redacted


def test_a_clean_json_tree_is_handed_back_itself() -> None:
    tree: JsonValue = {"a": ["text", 1]}
    assert Redactor([SECRET]).redact_json(tree) is tree


def test_a_token_after_a_line_break_is_found_in_json() -> None:
    tree: JsonValue = {"output": f"line\n{GITHUB}"}
    assert Redactor().redact_json(tree) == {"output": f"line\n{REDACTED}"}


def test_repr_tells_nothing() -> None:
    assert SECRET not in repr(Redactor([SECRET]))


@given(st.lists(SECRETS, min_size=1, max_size=4), st.text(max_size=40))
def test_redacting_twice_is_redacting_once(secrets: list[str], text: str) -> None:
    redactor = Redactor(secrets)
    once = redactor.redact(text.join(secrets))
    assert redactor.redact(once) == once


@given(SECRETS, st.text(max_size=20), st.text(max_size=20))
def test_no_form_survives(secret: str, before: str, after: str) -> None:
    redactor = Redactor([secret])
    value = secret.strip()
    for form in (value, value.encode().hex(), quote(value, safe="")):
        assert form not in redactor.redact(f"{before}{form}{after}")


@given(st.binary(max_size=5), SECRETS, st.binary(max_size=5))
def test_no_base64_around_it_can_be_read_back(
    before: bytes, secret: str, after: bytes
) -> None:
    value = secret.strip()
    encoded = base64.b64encode(before + value.encode() + after).decode()
    redacted = Redactor([value]).redact(encoded)
    assert REDACTED in redacted
    assert len(redacted) <= len(encoded) - len(value) + len(REDACTED) + 2


@given(SECRETS, st.recursive(st.text(max_size=8), st.lists, max_leaves=8))
def test_no_tree_holds_a_secret(secret: str, leaves: JsonValue) -> None:
    tree: JsonValue = {"x": leaves, "y": [f"a{secret}b"], secret: 1}
    redacted = json.dumps(Redactor([secret]).redact_json(tree), ensure_ascii=False)
    assert json.dumps(secret.strip(), ensure_ascii=False)[1:-1] not in redacted


def test_h10_a_row_of_tokens_is_one_blot() -> None:
    assert Redactor().redact(f"x {'AKIA' * 16_384} y") == f"x {REDACTED} y"


def test_h10_secrets_in_one_another_cost_their_line_at_most() -> None:
    deep = "x" * 4_000 + "[***]" + "y" * 4_000
    redactor = Redactor(["x[***]y", "secret"])
    assert redactor.redact(f"a secret\n\n{deep}\nb") == f"a {REDACTED}\n\n{REDACTED}\nb"


def test_h10_what_never_comes_to_rest_is_blotted_as_a_whole() -> None:
    deep = "x\n" * 4_000 + "[***]" + "\ny" * 4_000
    assert Redactor(["x\n[***]\ny"]).redact(deep) == REDACTED


KEY = "s3cr&t+/w'rd-0123456789"
# As `xxd`, `xxd -u -c 8`, `hexdump -C`, `hexdump` and `od -tx1` write it.
DUMPS = (
    (
        "00000000: 6b65 793d 7333 6372 2674 2b2f 7727 7264  key=s3cr&t+/w'rd\n"
        "00000010: 2d30 3132 3334 3536 3738 39              -0123456789"
    ),
    (
        "00000000: 7333 6372 2674 2B2F  s3cr&t+/\n"
        "00000008: 7727 7264 2D30 3132  w'rd-012\n"
        "00000010: 3334 3536 3738 39    3456789"
    ),
    (
        "00000000  6b 65 79 3d 73 33 63 72  26 74 2b 2f 77 27 72 64"
        "  |key=s3cr&t+/w'rd|\n"
        "00000010  2d 30 31 32 33 34 35 36  37 38 39              "
        "  |-0123456789|\n0000001b"
    ),
    (
        "0000000 656b 3d79 3373 7263 7426 2f2b 2777 6472\n"
        "0000010 302d 3231 3433 3635 3837 0039\n000001b"
    ),
    (
        "0000000 6b 65 79 3d 73 33 63 72 26 74 2b 2f 77 27 72 64\n"
        "0000020 2d 30 31 32 33 34 35 36 37 38 39\n0000033"
    ),
)


@pytest.mark.parametrize(
    "disguised",
    [
        "s3cr\\u0026t\\u002b/w\\u0027rd-0123456789",
        "s3cr&t+\\/w'rd-0123456789",
        quote(quote(KEY, safe=""), safe=""),
        base64.encodebytes((b"x" * 50) + KEY.encode() + b"y" * 40).decode(),
        " ".join(f"{byte:02x}" for byte in KEY.encode()),
        ":".join(f"{byte:02X}" for byte in KEY.encode()),
        KEY.encode().hex(" ", 2),
        "".join(f"\\x{byte:02x}" for byte in KEY.encode()),
        "\u200b".join(KEY),
        f"{KEY[:9]}\x1b[0m\x1b[1;31m{KEY[9:]}",
        "".join(f"%{byte:02x}" for byte in KEY.encode()),
        "".join(f"%25{byte:02X}" for byte in KEY.encode()),
        KEY.replace("3", "%33").replace("r", "%72"),
        KEY.replace("3", "%252533").replace("&", "\\u0026"),
        json.dumps(json.dumps(KEY.replace("&", "\\u0026").replace("/", "\\/"))),
        json.dumps(json.dumps("".join(f"\\u{ord(one):04x}" for one in KEY))),
        "".join(f"&#{ord(one)};" for one in KEY),
        "".join(f"&amp;#x{ord(one):x};" for one in KEY),
        "".join(f"\\{ord(one):03o}" for one in KEY),
        repr(KEY.encode().replace(b"3", b"\x01")).replace("\\x01", "\\x33"),
        *(f"\n{dump}\n" for dump in DUMPS),
    ],
)
def test_l6_a_secret_is_blotted_as_usual_tools_write_it(disguised: str) -> None:
    redactor = Redactor([KEY])
    assert REDACTED in redactor.redact(f"before {disguised} after")
    tree: JsonValue = {"output": f"before {disguised} after"}
    assert REDACTED in json.dumps(redactor.redact_json(tree))


@pytest.mark.parametrize("dump", DUMPS[:3])
def test_l6_the_letters_beside_a_dump_are_blotted_with_its_digits(dump: str) -> None:
    seen = Redactor([KEY]).redact(f"see\n{dump}\nbelow")
    assert "3456789" not in seen
    assert "w'rd" not in seen
    assert seen.endswith("below")


def test_l6_what_is_escaped_around_it_stays() -> None:
    seen = Redactor([KEY]).redact(f"a%20b {quote(quote(KEY, safe=''))} 100% &amp; c\\n")
    assert seen == f"a%20b {REDACTED} 100% &amp; c\\n"


def test_l6_a_token_is_known_with_what_nobody_sees_in_it() -> None:
    hidden = f"{GITHUB[:8]}\u200b{GITHUB[8:]}"
    assert Redactor().redact(f"a {hidden} b") == f"a {REDACTED} b"
    assert Redactor().redact_json([hidden]) == [REDACTED]
