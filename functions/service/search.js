"use strict";
(() => {
  const box = document.getElementById("search");
  const found = document.getElementById("found");
  const entries = [...document.querySelectorAll("[data-entry]")].map(element => ({
    parts: [element, document.querySelector(`.side a[href="#${element.id}"]`)?.parentElement].filter(Boolean),
    text: element.textContent.toLowerCase(),
  }));

  // The style hides the sections in which no entry is shown.
  const filter = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { parts, text } of entries) {
      const hit = words.every(word => text.includes(word));
      for (const part of parts) part.hidden = !hit;
      if (hit) count++;
    }
    found.textContent = words.length === 0 ? "" : `Entries with all of these words: ${count}.`;
  };
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (box.value && !target.checkVisibility()) {
      box.value = "";
      filter();
    }
    if (target instanceof HTMLDetailsElement) target.open = true;
    target.scrollIntoView();
  };

  document.querySelector(".search").hidden = false;
  box.addEventListener("input", filter);
  addEventListener("hashchange", open);
  document.addEventListener("click", event => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) open();
  });
  if (box.value) filter();
  if (location.hash) open();
})();
