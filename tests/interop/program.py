"""The gradwire program under test."""
import json
import os
import subprocess
import tempfile


class ProgramFailed(Exception):
    """It neither did what was asked nor refused it."""


class Program:
    def __init__(self, path):
        self.path = path
        self.folder = tempfile.TemporaryDirectory()
        rows = json.loads(self.run(["list", "--format", "json"]))["rows"]
        tables = {row["name"]: row["option_table"] for row in rows}
        self.options = {name: {option["name"]: option["default"] for option in table}
                        for name, table in tables.items()}
        self.choices = {name: {option["name"]: set(option["choices"]) for option in table if "choices" in option}
                        for name, table in tables.items()}

    def run(self, arguments, data=b""):
        """Standard output; None if the program says that it cannot (exit code 1)."""
        result = subprocess.run([self.path, "codec", *arguments], input=data, capture_output=True)
        if result.returncode not in (0, 1):
            raise ProgramFailed(f"{arguments}: exit code {result.returncode}: {result.stderr.decode()}")
        return result.stdout if result.returncode == 0 else None

    def facts(self, name, options, shape, mask):
        """Arguments that say what a payload does not: (of any input, of a frame)."""
        described = []
        for key, value in options.items():
            described += [key, value] if key.startswith("--") else ["--set", f"{key}={value}"]
        described += ["--shape", shape] if shape else []
        masked = []
        if mask is not None:
            handle, path = tempfile.mkstemp(dir=self.folder.name)
            with os.fdopen(handle, "wb") as file:
                file.write(mask)
            masked = ["--mask", path]
        return [name, *described, *masked], masked

    def encode(self, facts, values, bare=False):
        output = self.run(["encode", "-q", *facts[0], *(["--bare"] if bare else [])], values.tobytes())
        if output is None:
            raise ProgramFailed(f"{facts[0]}: {len(values)} values cannot be encoded")
        return output

    def decode_frame(self, facts, frame):
        return self.run(["decode", "-q", *facts[1]], frame)

    def decode_bare(self, facts, spec, payload):
        length = [] if "--shape" in facts[0] else ["--n", str(spec.n)]
        return self.run(["decode", "-q", "--bare", *facts[0], *length], payload)
