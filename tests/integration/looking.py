"""What to look for in pages in a real browser."""

OVERFLOWS = """() => {
  const found = [];
  const width = document.documentElement.clientWidth;
  for (const element of document.querySelectorAll('body *')) {
    const scrolls = element.closest('.wide, .skip, .tip');
    if (!element.checkVisibility() || scrolls || element.closest('svg')) continue;
    const box = element.getBoundingClientRect();
    const name = element.tagName + ': ' + element.textContent.slice(0, 60);
    if (box.right > width + 0.5 || box.left < -0.5) found.push('outside ' + name);
    const isInline = getComputedStyle(element).display === 'inline';
    if (element.scrollWidth > element.clientWidth + 1 && !isInline) found.push('overflows ' + name);
  }
  for (const text of document.querySelectorAll('svg text:not(symbol text)')) {
    if (!text.checkVisibility()) continue;
    const box = text.getBoundingClientRect();
    const frame = text.ownerSVGElement.getBoundingClientRect();
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1)
      found.push('cut ' + text.textContent);
  }
  if (document.documentElement.scrollWidth > width) found.push('the page scrolls sideways');
  return found;
}"""
OPEN_DETAILS = "document.querySelectorAll('details').forEach((item) => { item.open = true; })"


def serious_violations(page):
    from axe_playwright_python.sync_playwright import Axe

    result = Axe().run(page).response
    assert len(result["passes"]) > 20
    return [
        f"{violation['id']}: {node['html']}"
        for violation in result["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
