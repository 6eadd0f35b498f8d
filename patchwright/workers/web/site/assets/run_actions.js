// What a run asks and the forms of its page: brought up to date when they change.
(() => {
  "use strict";
  const actions = document.getElementById("actions");
  if (!actions) return;
  // What was sent is said once: not again when the page is reloaded.
  const address = new URL(location.href);
  if (address.searchParams.has("sent")) {
    address.searchParams.delete("sent");
    history.replaceState(null, "", address);
  }
  const isInUse = () =>
    [...actions.querySelectorAll("textarea, input:not([type=hidden])")]
      .some((one) => one.value !== one.defaultValue) ||
    actions.contains(document.activeElement);
  const isAsked = () => actions.querySelector(".ask") !== null;
  const tellStale = () => {
    if (actions.querySelector(".stale")) return;
    const told = document.createElement("p");
    told.className = "box open stale";
    told.setAttribute("role", "status");
    told.textContent = "The run has gone on. Reload the page to see what it needs now.";
    actions.prepend(told);
  };
  const bringUpToDate = async (turn) => {
    const answer = await fetch(actions.dataset.from);
    if (!answer.ok) return;
    actions.innerHTML = await answer.text();
    actions.dataset.turn = turn;
    if (isAsked()) actions.querySelector("h2").scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("turn", (event) => {
    if (event.detail === actions.dataset.turn) return;
    if (isInUse()) tellStale();
    else bringUpToDate(event.detail);
  });
})();
