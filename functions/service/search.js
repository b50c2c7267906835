"use strict";
(() => {
  const box = document.getElementById("search"), found = document.getElementById("found");
  const entries = [...document.querySelectorAll("[data-entry]")].map(element => ({
    element,
    link: document.querySelector(`.side a[href="#${element.id}"]`)?.parentElement,
    text: element.textContent.toLowerCase(),
  }));
  const sections = [...document.querySelectorAll("section[id]")].map(element => ({
    element,
    link: document.querySelector(`.side a[href="#${element.id}"]`)?.parentElement,
    entries: entries.filter(entry => element.contains(entry.element)),
  })).filter(section => section.entries.length > 0);

  const show = (part, visible) => {
    part.element.hidden = !visible;
    if (part.link) part.link.hidden = !visible;
  };
  const filter = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const entry of entries) {
      entry.hit = words.every(word => entry.text.includes(word));
      show(entry, entry.hit);
      if (entry.hit) count++;
    }
    for (const section of sections) show(section, section.entries.some(entry => entry.hit));
    found.textContent = words.length === 0 ? "" : count === 1 ? "1 entry has all of these words." : `${count} entries have all of these words.`;
  };
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.closest("[hidden]")) {
      box.value = "";
      filter();
    }
    if (target instanceof HTMLDetailsElement) target.open = true;
    target.scrollIntoView();
  };

  document.querySelector(".search").hidden = false;
  box.addEventListener("input", filter);
  box.addEventListener("keydown", event => {
    if (event.key !== "Escape" || box.value === "") return;
    event.preventDefault();
    box.value = "";
    filter();
  });
  addEventListener("hashchange", open);
  document.addEventListener("click", event => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) open();
  });
  if (box.value) filter();
  if (location.hash) open();
})();
