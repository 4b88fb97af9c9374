// Keeps a page up to date, and makes it quicker to use. Without this file all pages and forms work as well.
"use strict";
(() => {
  const main = document.getElementById("main"), lost = document.getElementById("lost");
  const one = (name) => document.getElementById(name);
  const SILENT = 8000, SOON = 700, LATER = 1500;
  let source = null, timer = 0, heard = 0, away = false, failed = 0;

  // What changes: one stream while the page is visible, from a cursor on

  const open = () => {
    close();
    if (!main || !main.dataset.live || document.hidden) return;
    source = new EventSource(`${main.dataset.live}&since=${main.dataset.cursor}`);
    source.addEventListener("news", (event) => { hear(); take(JSON.parse(event.data)); });
    source.addEventListener("alive", hear);
    source.addEventListener("rest", () => { hear(); close(); timer = setTimeout(open, LATER); });
    source.addEventListener("reload", () => location.reload());
    source.onerror = miss;
    heard = Date.now();
  };
  const close = () => { clearTimeout(timer); if (source) source.close(); source = null; };
  const hear = () => { heard = Date.now(); failed = 0; tell(""); };
  const miss = () => {
    close();
    failed += 1;
    if (failed > 1) tell("santiago serve does not answer. Runs go on, and what you typed stays here; nothing can be sent now. Start it again, and open its new link.");
    timer = setTimeout(open, failed > 5 ? LATER : SOON);
  };
  const tell = (text) => {
    away = text !== "";
    if (!lost || lost.textContent === text) return;
    lost.textContent = text;
    lost.hidden = !away;
  };
  setInterval(() => { if (source && Date.now() - heard > SILENT) miss(); }, 1000);
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);

  // Replacing parts, without taking away focus, open folds, and what somebody types

  const callbacks = {
    beforeNodeMorphed: (old) => !(old instanceof Element && old.matches("textarea, input:not([type=hidden]), select")),
    beforeAttributeUpdated: (name, node) => !(name === "open" && node.tagName === "DETAILS") && !(name === "hidden" && node.matches("[data-copy]")),
  };
  const take = (news) => {
    const end = follows() && innerHeight + scrollY > document.body.scrollHeight - 400;
    for (const id of [...main.children].map((child) => child.id)) {
      if (id && !news.all.includes(id)) one(id).remove();
    }
    for (const part of news.parts) {
      const there = one(part.id);
      if (there) Idiomorph.morph(there, part.html, { morphStyle: "outerHTML", callbacks });
      else (one(part.after) || main.querySelector("h1")).insertAdjacentHTML("afterend", part.html);
    }
    main.dataset.cursor = news.cursor;
    ready(main);
    if (end) scrollTo(0, document.body.scrollHeight);
  };

  // Copying, following, keys

  const ready = (root) => { for (const button of root.querySelectorAll("[data-copy][hidden]")) button.hidden = false; };
  const follows = () => one("follow") && one("follow").checked;
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  document.addEventListener("change", (event) => { if (event.target.id === "follow" && follows()) scrollTo(0, document.body.scrollHeight); });
  document.addEventListener("submit", (event) => {
    if (!away || event.target.method !== "post") return;
    event.preventDefault();
    lost.scrollIntoView();
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest && event.target.closest("textarea, input:not([type=checkbox]), select");
    if (event.key === "Escape" && typing) { typing.blur(); return; }
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !/^[a-z/?]$/.test(event.key)) return;
    const keys = one("keys");
    const found = event.key === "?" ? keys && keys.querySelector("summary") : document.querySelector(`[data-key="${event.key}"]`);
    if (!found) return;
    event.preventDefault();
    if (event.key === "?") keys.scrollIntoView();
    found.focus();
    if (found.matches("input[type=search]")) found.select();
    else found.click();
  });

  ready(document);
  open();

  // A fold that an address names is open

  const named = location.hash && one(decodeURIComponent(location.hash.slice(1)));
  if (named) for (let up = named; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
  for (const box of document.querySelectorAll("details textarea")) if (box.value) box.closest("details").open = true;
})();
