// The page of a run: it follows a run that works, and knows a few keys.
(() => {
  "use strict";
  const log = document.getElementById("log");
  if (!log) return;
  const head = document.getElementById("head");
  const news = document.getElementById("news");
  const newest = document.getElementById("newest");

  // Times are UTC in the text; whoever points at one sees their own.
  const tellLocalTimes = (node) => {
    for (const time of node.querySelectorAll("time[datetime]"))
      time.title = new Date(time.dateTime).toLocaleString();
  };
  tellLocalTimes(document);

  // Following: whoever reads elsewhere stays there, and is told how much is new.
  let unseen = 0;
  let isOver = false;
  let lastOpened = null;
  const isAtEnd = () => newest.getBoundingClientRect().top < window.innerHeight + 40;
  const showNews = () => {
    news.hidden = !isOver && unseen === 0;
    if (isOver) news.textContent = "The run has ended: show its result";
    else news.textContent = unseen === 1 ? "1 new step" : `${unseen} new steps`;
  };
  const goToEnd = () => {
    unseen = 0;
    showNews();
    newest.scrollIntoView({ block: "end" });
  };
  news.addEventListener("click", () => { if (isOver) location.reload(); else goToEnd(); });
  document.addEventListener("scroll", () => {
    if (unseen && isAtEnd()) { unseen = 0; showNews(); }
  }, { passive: true });

  const keepOpen = (from, to) => {
    const old = from.querySelectorAll("details");
    to.querySelectorAll("details").forEach((one, index) => {
      if (old[index]) one.open = old[index].open;
    });
  };
  const replace = (old, part) => {
    keepOpen(old, part);
    const hadFocus = old.contains(document.activeElement);
    old.replaceWith(part);
    if (hadFocus) part.querySelector("summary")?.focus({ preventScroll: true });
  };
  const append = (part, follows) => {
    document.getElementById("nothing")?.remove();
    log.append(part);
    if (!part.classList.contains("step")) return;
    if (!follows) { unseen += 1; return; }
    if (lastOpened && !lastOpened.classList.contains("failed"))
      lastOpened.querySelector("details").open = false;
    part.querySelector("details").open = true;
  };
  const take = (html) => {
    const box = document.createElement("template");
    box.innerHTML = html;
    const part = box.content.firstElementChild;
    const old = document.getElementById(part.id);
    const follows = isAtEnd();
    tellLocalTimes(part);
    if (old) replace(old, part);
    else append(part, follows);
    const last = log.querySelector(".step:last-of-type > details[open]");
    if (last) lastOpened = last.parentElement;
    if (follows) newest.scrollIntoView({ block: "end" });
    showNews();
  };
  if (log.dataset.live) {
    const source = new EventSource(log.dataset.live);
    source.addEventListener("part", (event) => take(event.data));
    source.addEventListener("head", (event) => {
      const box = document.createElement("div");
      box.innerHTML = event.data;
      keepOpen(head, box);
      head.replaceChildren(...box.childNodes);
    });
    source.addEventListener("turn", (event) => {
      document.dispatchEvent(new CustomEvent("turn", { detail: event.data }));
    });
    source.addEventListener("end", () => {
      source.close();
      if (window.scrollY < 200) { location.reload(); return; }
      isOver = true;
      showNews();
    });
    // It was refused: too many others watch, or nobody may look here any more.
    source.addEventListener("error", async () => {
      if (source.readyState !== EventSource.CLOSED) return;
      const answer = await fetch(document.getElementById("actions").dataset.from);
      if (answer.status === 404) location.reload();
    });
  }

  // Keys: they can be switched off, as programs that read aloud have their own.
  const keys = document.getElementById("keys");
  const switchOn = document.getElementById("keys-on");
  const KEPT = "patchwright-keys";
  switchOn.checked = localStorage.getItem(KEPT) !== "off";
  switchOn.addEventListener("change", () => {
    localStorage.setItem(KEPT, switchOn.checked ? "on" : "off");
  });
  const summaries = () => [...log.querySelectorAll(".step > details > summary")];
  const current = (all) => {
    const step = document.activeElement?.closest?.(".step");
    return step ? all.findIndex((one) => step.contains(one)) : -1;
  };
  const move = (by) => {
    const all = summaries();
    const at = current(all);
    const firstShown = all.findIndex((one) => one.getBoundingClientRect().top >= 0);
    const to = at < 0 ? Math.max(firstShown, 0) : at + by;
    const wanted = all[Math.min(Math.max(to, 0), all.length - 1)];
    wanted?.focus({ preventScroll: true });
    wanted?.scrollIntoView({ block: "nearest" });
  };
  const toggle = () => {
    const all = summaries();
    const summary = all[current(all)];
    if (summary) summary.parentElement.open = !summary.parentElement.open;
  };
  const ACTS = { j: () => move(1), k: () => move(-1), o: toggle };
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping || keys.open) return;
    if (event.key === "?") { keys.showModal(); return; }
    const act = switchOn.checked && ACTS[event.key];
    if (act) { event.preventDefault(); act(); }
  });
})();
