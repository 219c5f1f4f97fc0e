"""Visits to the application: what a browser does, and tables to give it."""

import re
import time

import httpx
import numpy as np

SECONDS_TO_WORK = 120.0
# Names that must stay text.
HOSTILE = (
    "<script>document.title='run'</script>",
    "=cmd()|' /C calc'!A0",
    '"quoted" & <b>bold</b>',
    "outcome",
)


class Visitor:
    """Follows redirects, and waits for work to end."""

    def __init__(self, address):
        scheme, _, host, self.secret, *_ = address.split("/")
        self.origin = f"{scheme}//{host}"
        self.home = f"{self.origin}/{self.secret}"
        self.client = httpx.Client(
            headers={"origin": self.origin}, follow_redirects=True, timeout=SECONDS_TO_WORK
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.client.close()

    def get(self, address):
        return self.settle(self.client.get(address))

    def post(self, address, **fields):
        return self.settle(self.client.post(address, data=fields))

    def send(self, address, content, name="table.csv"):
        """Send a file as the script does."""
        return self.client.put(address, content=content, headers={"x-file-name": name})

    def put(self, address, content, name="table.csv"):
        """Send a file, and go where the answer says."""
        answer = self.send(address, content, name)
        assert answer.status_code == 200, answer.text
        return self.get(f"{self.origin}{answer.json()['location']}")

    def settle(self, page):
        end = time.monotonic() + SECONDS_TO_WORK
        while "data-job=" in page.text and time.monotonic() < end:
            time.sleep(0.1)
            page = self.client.get(str(page.url))
        return page


def make_table(n_rows=90, seed=0, names=("age", "dose", "sex", "outcome"), classes=("no", "yes")):
    """A table as CSV whose last column depends on the others."""
    rng = np.random.default_rng(seed)
    age, dose = rng.integers(20, 80, n_rows), rng.normal(5, 2, n_rows).round(2)
    sex = rng.choice(["f", "m"], n_rows)
    is_second = rng.uniform(size=n_rows) < 1 / (1 + np.exp(-(age - 50) / 8 - (dose - 5)))
    quoted = ['"' + name.replace('"', '""') + '"' for name in (*names, *classes)]
    lines = [",".join(quoted[: len(names)])]
    lines += [
        f"{a},{d},{s},{quoted[len(names) + int(second)]}"
        for a, d, s, second in zip(age, dose, sex, is_second, strict=True)
    ]
    return "\n".join(lines).encode()


def text_of(page):
    """The visible text of a page."""
    main = page.text.split("<main", 1)[1].split("</main>", 1)[0]
    return " ".join(re.sub(r"<[^>]*>", " ", f"<main{main}").split())


def project_of(page):
    """The address of the project of a page."""
    return re.match(r"(.*/p/[0-9a-f]+)", str(page.url))[1]
