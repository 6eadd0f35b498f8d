// Follows a run that works: new entries of its log, and how it stands.
(() => {
  const log = document.getElementById("log");
  const head = document.getElementById("head");
  if (!log || !log.dataset.live) return;
  const source = new EventSource(log.dataset.live);
  source.addEventListener("entry", (event) => log.insertAdjacentHTML("beforeend", event.data));
  source.addEventListener("head", (event) => { head.innerHTML = event.data; });
  source.addEventListener("end", () => { source.close(); location.reload(); });
})();
