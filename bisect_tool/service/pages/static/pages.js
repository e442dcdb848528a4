// What the pages do beyond reading: live parts are fetched again when something happened, and texts are copied.
"use strict";

const PAUSE = 400; // milliseconds between two looks
const REFUSED_PAUSE = 5000; // the same while no stream says when there is something new

function replaceLive(place, text) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const log = place.querySelector("[data-log]");
  const atEnd = !log || log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  const top = log ? log.scrollTop : 0;
  const open = [...place.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
  const focused = document.activeElement && place.contains(document.activeElement) ? focusPath(place) : null;
  place.replaceChildren(...fresh.body.childNodes);
  [...place.querySelectorAll(".scroll")].forEach((one, n) => { one.scrollLeft = open[n] || 0; });
  const again = place.querySelector("[data-log]");
  if (again) again.scrollTop = atEnd ? again.scrollHeight : top;
  if (focused !== null) {
    const all = place.querySelectorAll("a, button, [tabindex]");
    if (all[focused]) all[focused].focus({ preventScroll: true });
  }
}

function focusPath(place) {
  return [...place.querySelectorAll("a, button, [tabindex]")].indexOf(document.activeElement);
}

function follow(place) {
  let wanted = false;
  let busy = false;
  let polling = 0;
  async function look() {
    if (busy) { wanted = true; return; }
    busy = true;
    wanted = false;
    try {
      const answer = await fetch(place.dataset.live, { headers: { Accept: "text/html" }, credentials: "same-origin" });
      // 205: the state has changed so much (an answer is there) that the whole page is another one.
      if (answer.status === 205) { location.reload(); return; }
      if (answer.ok) replaceLive(place, await answer.text());
    } catch { /* the server is away for a moment; the stream says when it is back */ }
    setTimeout(() => { busy = false; if (wanted) look(); }, PAUSE);
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
