// Keeps the list of runs up to date: rows change in place, new ones come on top.
(() => {
  const list = document.getElementById("runs");
  if (!list || !list.dataset.live) return;
  const news = document.getElementById("news");
  const units = [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]];
  let arrived = 0;

  const refreshAges = () => {
    for (const time of list.querySelectorAll("time")) {
      const seconds = Math.max(0, Math.round((Date.now() - Date.parse(time.dateTime)) / 1000));
      const [size, unit] = units.find(([least]) => seconds >= least) || units[3];
      time.textContent = `${Math.floor(seconds / size)}${unit}`;
    }
  };

  // What is being read stays where it is on the screen.
  const keepPlace = (change) => {
    const before = document.documentElement.scrollHeight;
    const isBelow = window.scrollY > list.offsetTop;
    change();
    if (isBelow) window.scrollBy(0, document.documentElement.scrollHeight - before);
  };

  const update = (old, row) => {
    const hadFocus = old.contains(document.activeElement);
    old.replaceWith(row);
    if (hadFocus) row.querySelector("a").focus();
  };

  const insert = (row) => {
    const later = [...list.children].find((one) => one.dataset.at <= row.dataset.at);
    row.classList.add("new");
    keepPlace(() => list.insertBefore(row, later || null));
    document.getElementById("none")?.remove();
    arrived += 1;
    news.textContent = arrived === 1 ? "1 new run" : `${arrived} new runs`;
  };

  const source = new EventSource(list.dataset.live);
  source.addEventListener("row", (event) => {
    const row = new DOMParser().parseFromString(event.data, "text/html").querySelector("li");
    const old = document.getElementById(row.id);
    if (!old) insert(row);
    else if (old.innerHTML !== row.innerHTML) update(old, row);
  });
  setInterval(refreshAges, 15000);
})();
