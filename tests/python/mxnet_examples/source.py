"""Takes scripts of MXNet's example/ out of a git directory or an unpacked tree, and nothing but what the release holds.

sha256.txt names every file that may run, with the release it comes from and its hash, in the form of sha256sum. A file
that is not named there, or whose hash is another, is refused: what the table of results says is true of those files only.
"""
import hashlib
import os
import pathlib
import subprocess

HASHES = pathlib.Path(__file__).with_name("sha256.txt")
MAIN = "1.9.1"
COMMITS = {  # of apache/mxnet
    "1.9.1": "3f8f3be9987e259491ddc5a78aa9c6903e0b21e3",
    "1.3.1": "19c501680183237d52a862e6ae1dc4ddc296305b",
}


class Refused(Exception):
    """The source does not hold the file as the release has it."""


def read_hashes(path=HASHES):
    """{(release, file below example/): sha256}"""
    hashes = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        value, name = line.split("  ", 1)
        release, file = name.split("/", 1)
        hashes[release, file] = value
    return hashes


class Source:
    """A git directory (bare or not) of apache/mxnet, or an unpacked tree of one release."""

    def __init__(self, folder):
        self.folder = folder
        self.git = self._find_git()
        if self.git is None and not os.path.isdir(os.path.join(folder, "example")):
            raise Refused("{} is neither a git directory nor a source tree of apache/mxnet".format(folder))

    def _find_git(self):
        tries = [["--git-dir", self.folder]]
        if os.path.exists(os.path.join(self.folder, ".git")):
            tries.insert(0, ["-C", self.folder])
        for arguments in tries:
            git = ["git", "-c", "safe.directory=*", *arguments]
            if subprocess.run([*git, "rev-parse", "--git-dir"], capture_output=True, check=False).returncode == 0:
                return git
        return None

    def holds(self, release):
        """Whether scripts of this release can be here: a tree is one of 1.9.1, a clone may be shallow."""
        if self.git is None:
            return release == MAIN
        return subprocess.run([*self.git, "cat-file", "-e", COMMITS[release] + "^{commit}"],
                              capture_output=True, check=False).returncode == 0

    def read(self, release, file):
        """The bytes of a file below example/, whatever they are."""
        if self.git is None:
            path = os.path.join(self.folder, "example", file)
            if not os.path.exists(path):
                raise Refused("no example/{} in {}".format(file, self.folder))
            return pathlib.Path(path).read_bytes()
        done = subprocess.run([*self.git, "cat-file", "blob", "{}:example/{}".format(COMMITS[release], file)],
                              capture_output=True, check=False)
        if done.returncode != 0:
            raise Refused("{} has no example/{} of {}: {}".format(
                self.folder, file, release, done.stderr.decode(errors="replace").strip()))
        return done.stdout

    def place(self, release, file, folder, hashes):
        """Writes a file below `folder` after comparing its hash."""
        wanted = hashes.get((release, file))
        if wanted is None:
            raise Refused("example/{} of {} is not in {}".format(file, release, HASHES.name))
        content = self.read(release, file)
        found = hashlib.sha256(content).hexdigest()
        if found != wanted:
            raise Refused("example/{} is not that of {}: sha256 {}, wanted {}".format(
                file, release, found, wanted))
        target = pathlib.Path(folder, file)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
