// What the pages do beyond reading: live parts are fetched again when something happened, and texts are copied.
"use strict";

const PAUSE = 400; // milliseconds between two looks
const REFUSED_PAUSE = 5000; // the same while no stream says when there is something new

// Puts the text in the place of what is shown, and keeps where one reads: false while somebody selects something in it.
function replaceLive(place, text) {
  if (place.shownText === text) return true;
  const selection = getSelection();
  if (!selection.isCollapsed && place.contains(selection.anchorNode)) return false;
  place.shownText = text;
  const fresh = new DOMParser().parseFromString(text, "text/html");
  fresh.querySelectorAll("noscript").forEach((one) => one.remove()); // the parser takes its links for links that are shown
  const log = place.querySelector("[data-log]");
  const atEnd = !log || log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  const top = log ? log.scrollTop : 0;
  const open = [...place.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
  const focused = place.contains(document.activeElement) ? nameOf(document.activeElement) : null;
  place.replaceChildren(...fresh.body.childNodes);
  [...place.querySelectorAll(".scroll")].forEach((one, n) => { one.scrollLeft = open[n] || 0; });
  const again = place.querySelector("[data-log]");
  if (again) again.scrollTop = atEnd ? again.scrollHeight : top;
  if (focused !== null) {
    const same = [...place.querySelectorAll("a, button, [tabindex]")].find((one) => nameOf(one) === focused);
    if (same) same.focus({ preventScroll: true });
  }
  return true;
}

// What an element is known by from one look to the next.
function nameOf(one) {
  const names = ["href", "aria-label", "aria-labelledby", "name"].map((name) => one.getAttribute(name) || "");
  return [one.tagName, ...names, one.tagName === "BUTTON" ? one.textContent : ""].join("|");
}

// A picture that is wider than the window opens where the answer is.
function showAnswer(place) {
  const found = place.querySelector("svg .cell.failing, svg .cell.flaky") || highest(place.querySelectorAll("svg.chances rect"));
  if (!found || place.scrollWidth <= place.clientWidth) return;
  const box = found.getBoundingClientRect();
  place.scrollLeft += box.left + box.width / 2 - place.getBoundingClientRect().left - place.clientWidth / 2;
}

function highest(bars) {
  return [...bars].reduce((best, one) => (!best || one.height.baseVal.value > best.height.baseVal.value ? one : best), null);
}

function follow(place) {
  let wanted = false;
  let busy = false;
  let polling = 0;
  async function look() {
    if (busy) { wanted = true; return; }
    busy = true;
    wanted = false;
    let pause = PAUSE;
    try {
      const answer = await fetch(place.dataset.live, { headers: { Accept: "text/html" }, credentials: "same-origin" });
      // 205: the state has changed so much (an answer is there) that the whole page is another one.
      if (answer.status === 205) { location.reload(); return; }
      if (answer.ok && !replaceLive(place, await answer.text())) { pause = REFUSED_PAUSE; wanted = true; }
    } catch { /* the server is away for a moment; the stream says when it is back */ }
    setTimeout(() => { busy = false; if (wanted) look(); }, pause);
  }
  const source = new EventSource(place.dataset.events);
  source.onopen = look;
  source.onmessage = look;
  source.onerror = () => {
    // Refused for good, because there are too many streams or the server stops: it is looked now and then instead.
    if (source.readyState === EventSource.CLOSED && !polling) polling = setInterval(look, REFUSED_PAUSE);
  };
  addEventListener("pagehide", () => source.close());
}

function offerCopy(button) {
  const told = document.querySelector("[data-copied]");
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(field.value);
      told.textContent = "Copied.";
    } catch {
      field.closest("details").open = true;
      field.focus();
      field.select();
      told.textContent = "Select and copy the text below.";
    }
  });
}

document.querySelectorAll(".scroll").forEach(showAnswer);
document.querySelectorAll("[data-live]").forEach(follow);
document.querySelectorAll("[data-copy]").forEach(offerCopy);
document.querySelectorAll("[data-log]").forEach((log) => { log.scrollTop = log.scrollHeight; });
document.querySelectorAll("[data-again]").forEach((place) => {
  setInterval(async () => {
    if (document.hidden) return;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, credentials: "same-origin" });
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(place.id);
      if (fresh) replaceLive(place, fresh.innerHTML);
    } catch { /* shown again at the next look */ }
  }, 1000 * Number(place.dataset.again));
});
