"use strict";

const part = Object.fromEntries([...document.querySelectorAll("[id]")].map((element) => [element.id, element]));
const TOKEN = /^[!-~]+$/; // as `qpr serve` reads it; a header with other characters cannot be sent
let token = sessionStorage.getItem("token");

function make(name, text = "", attributes = {}) {
  const element = document.createElement(name);
  element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
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
  sessionStorage.setItem("token", token);
  return true;
}
