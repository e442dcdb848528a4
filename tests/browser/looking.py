"""What a page looks like to somebody who cannot see it well, asked of the browser: labels, headings, names, contrast, width."""

from __future__ import annotations

from playwright.sync_api import Page

LEAST_CONTRAST = 4.5  # of text to what is behind it: WCAG 2.2, 1.4.3

_FAULTS = """() => {
  const faults = [];
  const shown = (one) => one.checkVisibility({ contentVisibilityAuto: true });
  for (const one of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
    if (shown(one) && !one.labels.length && !one.ariaLabel) faults.push(`no label: ${one.outerHTML.slice(0, 80)}`);
  for (const one of document.querySelectorAll("a, button, summary"))
    if (shown(one) && !one.textContent.trim() && !one.ariaLabel) faults.push(`no name: ${one.outerHTML.slice(0, 80)}`);
  for (const one of document.querySelectorAll("img")) if (!one.alt) faults.push(`no alt: ${one.outerHTML.slice(0, 80)}`);
  for (const one of document.querySelectorAll("svg"))
    if (one.getAttribute("aria-hidden") !== "true" && !(one.getAttribute("role") === "img" && one.ariaLabel))
      faults.push(`a picture without words: ${one.outerHTML.slice(0, 80)}`);
  for (const one of document.querySelectorAll("[tabindex='0']")) {
    const has_role = one.getAttribute("role") || ["OL", "UL", "TABLE"].includes(one.tagName);
    if (!has_role || !(one.ariaLabel || one.getAttribute("aria-labelledby")))
      faults.push(`the keyboard comes there, and nobody says where that is: ${one.outerHTML.slice(0, 80)}`);
  }
  let level = 0;
  for (const one of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    if (!shown(one)) continue;
    const own = Number(one.tagName[1]);
    if (own > level + 1) faults.push(`after h${level} comes h${own}: ${one.textContent.trim().slice(0, 60)}`);
    level = own;
  }
  if (document.querySelectorAll("h1").length !== 1) faults.push("there is not one h1");
  for (const name of ["header", "main", "nav", "footer"])
    if (!document.querySelector(name)) faults.push(`no ${name}`);
  if (!document.documentElement.lang) faults.push("no language");
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push(`twice: ${id}`);
  for (const one of document.querySelectorAll("[aria-labelledby], [aria-describedby]"))
    for (const id of `${one.getAttribute("aria-labelledby") || ""} ${one.getAttribute("aria-describedby") || ""}`.split(" "))
      if (id && !document.getElementById(id)) faults.push(`nothing is called ${id}`);
  for (const one of document.querySelectorAll("[style]:not([style='']), style, script:not([src])"))
    faults.push(`inline: ${one.outerHTML.slice(0, 80)}`);
  return faults;
}"""

_CONTRASTS = """() => {
  const parse = (text) => {
    const found = text.match(/rgba?\\(([^)]+)\\)/);
    if (!found) return null;
    const [r, g, b, a = 1] = found[1].split(/[ ,/]+/).map(Number);
    return [r, g, b, a];
  };
  const over = (top, under) => [0, 1, 2].map((n) => top[n] * top[3] + under[n] * (1 - top[3])).concat(1);
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (one) => {
    const layers = [];
    for (let at = one; at; at = at.parentElement) {
      const rect = at instanceof SVGElement && at.parentElement.tagName === "g" && at.parentElement.querySelector("rect");
      if (rect && rect !== at) layers.push(parse(getComputedStyle(rect).fill) || [0, 0, 0, 0]);
      layers.push(parse(getComputedStyle(at).backgroundColor) || [0, 0, 0, 0]);
    }
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]);
  };
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const one = walker.currentNode.parentElement;
    if (!text || ["NOSCRIPT", "title"].includes(one.tagName) || !one.checkVisibility({ checkOpacity: true })) continue;
    const style = getComputedStyle(one);
    const colour = parse(one instanceof SVGElement ? style.fill : style.color);
    const back = behind(one);
    const [high, low] = [light(over(colour, back)), light(back)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const key = `${one.tagName.toLowerCase()}.${one.getAttribute("class") || ""}`;
    if (!found.has(key) || found.get(key)[0] > ratio) found.set(key, [ratio, text.slice(0, 40)]);
  }
  return [...found].map(([key, [ratio, text]]) => [key, ratio, text]);
}"""


def faults(page: Page) -> list[str]:
    """What is wrong with labels, names, headings, landmarks and ids; and any inline style or script."""
    return list(page.evaluate(_FAULTS))


def faint_texts(page: Page) -> list[str]:
    """Texts whose contrast to what is behind them is too small."""
    return [
        f"{where} {ratio:.2f}: {text}" for where, ratio, text in page.evaluate(_CONTRASTS) if ratio < LEAST_CONTRAST
    ]


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))
