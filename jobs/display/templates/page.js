"use strict";

const part = Object.fromEntries([...document.querySelectorAll("[id]")].map((element) => [element.id, element]));
const TOKEN = /^[!-~]+$/; // as `qpr serve` reads it; a header with other characters cannot be sent
const [tabStorage, browserStorage] = ["sessionStorage", "localStorage"].map(storageOf);
let token = tabStorage.getItem("token");

function storageOf(name) { // a browser that blocks the data of sites refuses access: then nothing is remembered
  try {
    return window[name];
  } catch {
    return { getItem: () => null, setItem: () => {} };
  }
}

function make(name, text = "", attributes = {}) {
  const element = document.createElement(name);
  element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

// Speech input and screen readers press single keys that nobody meant, so a box switches those of [data-key] off.
function offerKeys() {
  const onlyTouch = matchMedia("(any-pointer: coarse) and (not (any-pointer: fine))").matches;
  part.keys.checked = (browserStorage.getItem("keys") ?? (onlyTouch ? "off" : "on")) === "on";
  part.keys.addEventListener("change", () => {
    browserStorage.setItem("keys", part.keys.checked ? "on" : "off");
    showKeys();
  });
  showKeys();
}

function showKeys() {
  for (const element of document.querySelectorAll("[data-key]")) {
    if (part.keys.checked) element.setAttribute("aria-keyshortcuts", element.dataset.key);
    else element.removeAttribute("aria-keyshortcuts");
  }
}

function elementOf({ key }) {
  const keyed = part.keys.checked ? [...document.querySelectorAll("[data-key]")] : [];
  return keyed.find((element) => element.dataset.key === key.toLowerCase() && element.checkVisibility());
}

function takeToken() {
  const given = part.token.value.trim();
  if (!TOKEN.test(given)) {
    part.fault.hidden = false;
    part.fault.textContent = "A token has only letters, digits and signs of ASCII, without spaces.";
    part.token.focus();
    return false;
  }
  token = given;
  tabStorage.setItem("token", token);
  return true;
}
