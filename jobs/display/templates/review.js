{% include "page.js" %}
const buttons = [...part.verdicts.querySelectorAll("button")];
const session = tabStorage.getItem("session") ?? randomName();
tabStorage.setItem("session", session);
let reviewer = tabStorage.getItem("reviewer");
const drafts = new Map(JSON.parse(tabStorage.getItem("drafts") ?? "[]")); // note and marks of items without a verdict
const UNREAD_MS = 300; // nobody reads an item in this time: a second key or tap was meant for the item before
const SLOW_MS = 300; // a shorter wait needs no word
let shown = null;
let shownAt = -Infinity;
let sent = null;
let last = null; // name of the verdict that an undo undoes, so that a repeated one undoes no second verdict
let busy = false;
let beganAgain = false;

function randomName() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function call(path, more = {}) {
  const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
  const body = JSON.stringify({ reviewer, session, ...more });
  const response = await fetch(path, { method: "POST", headers, body });
  const found = await response.json().catch(() => ({ error: "the response is not JSON" }));
  if (!response.ok) throw Object.assign(new Error(found.error ?? response.statusText), { status: response.status });
  return found;
}

async function ask(path, more) {
  if (busy) return;
  busy = true;
  part.verdicts.ariaBusy = "true"; // a disabled button would lose the focus
  const progress = part.progress.textContent;
  const slow = setTimeout(() => (part.progress.textContent = "Waiting for the server…"), SLOW_MS);
  try {
    show(await call(path, more));
    sent = null;
  } catch (error) {
    if (more) more.refused = error.status < 500; // and not stored; without a response it may be
    part.progress.textContent = progress;
    showFault(error, path === "review/verdicts");
  } finally {
    clearTimeout(slow);
    busy = false;
    part.verdicts.ariaBusy = "false";
  }
  if (beganAgain) begin();
}

function begin() {
  beganAgain = busy; // a name or a token that was given during a request is for the next one
  ask("review/next");
}

function showFault(error, isVerdict) {
  const { status } = error;
  part.access.hidden = status !== 401 && !token;
  if (status === 401) {
    part.who.hidden = false;
    part.task.hidden = true;
    part.token.focus();
  }
  const isOpen = !status || status === 504; // whether it is stored: a slow server may store it after this response
  const refused = status === 401 || !isVerdict ? "The server refused the request" : "Not stored";
  const same = `Nothing is lost: press the same ${part.keys.checked ? "key" : "button"} again`;
  const again = part.who.hidden ? same : "Press Begin again";
  part.fault.textContent = isOpen ? `The server ${status ? "is too slow" : "cannot be reached"}. ${again}.` : `${refused}: ${error.message}.`;
  part.fault.hidden = false;
}

function show({ task, progress, end, undone, before, stored }) {
  if (shown && stored !== undefined) drafts.delete(shown.item);
  shown = task;
  shownAt = stored === undefined ? -Infinity : performance.now();
  part.who.hidden = true;
  part.fault.hidden = undone !== false && stored !== false;
  if (undone === false) part.fault.textContent = "There is nothing to undo.";
  if (stored === false) part.fault.textContent = `Your verdict on that item was stored before: ${hint(part.undo)} undoes it. The next item follows.`;
  const isBack = before?.item === task?.item;
  part.progress.textContent = `${before ? undoneText(before, isBack) : ""}${progress.text}`;
  part.task.hidden = task === null;
  part.done.hidden = task !== null;
  part.back.hidden = progress.mine === 0;
  last = progress.last;
  if (task === null) {
    part.done.textContent = `${end}.`;
    part.done.focus();
    storeDrafts();
    return;
  }
  const { strays, note } = (isBack ? before : drafts.get(task.item)) ?? { strays: [], note: "" };
  part.lines.replaceChildren(...task.lines.map(line));
  for (const box of part.lines.querySelectorAll("input")) box.checked = strays.includes(box.value);
  showKeys();
  part.filters.hidden = task.filters === "";
  part.filters.textContent = task.filters;
  part.answered.hidden = task.answer === null;
  part.answer.textContent = task.answer ?? "";
  part.note.value = note;
  keepDraft();
  part.question.focus({ preventScroll: true });
  scrollTo(0, 0);
}

function undoneText({ verdict, strays, note }, isBack) {
  if (!isBack) return "Undone. Another window shows that item. ";
  const button = buttons.find((one) => one.dataset.verdict === verdict);
  const filled = strays.length || note ? ", with the marks and the note that you see" : "";
  return `Undone. Your verdict was “${button ? textOf(button) : verdict}”${filled}. `;
}

function hint(button) {
  return part.keys.checked ? button.dataset.key : `“${textOf(button)}”`;
}

function textOf(button) {
  return button.lastChild.textContent.trim(); // without its key
}

function marked() {
  return [...part.lines.querySelectorAll(":checked")].map((box) => box.value);
}

function line({ name, text, events }, place) {
  const row = make("li");
  const label = make("label");
  if (name !== null) {
    const hint = `Stray, wording ${place + 1}`;
    const key = place < 9 && String(place + 1);
    const box = make("input", "", { type: "checkbox", value: name, "aria-label": `${hint}: ${text}`, ...(key && { "data-key": key }) });
    label.append(box, ...(key ? [make("kbd", key, { "aria-hidden": "true" })] : []));
  }
  label.append(make("span", text, { dir: "auto" }));
  if (events > 1) label.append(make("small", `${events.toLocaleString("en")} ×`));
  row.append(label);
  return row;
}

function keepDraft() {
  const draft = { strays: marked(), note: part.note.value };
  if (draft.strays.length || draft.note) drafts.set(shown.item, draft);
  else drafts.delete(shown.item);
  storeDrafts();
}

function storeDrafts() {
  tabStorage.setItem("drafts", JSON.stringify([...drafts])); // for a reload
}

function judge(verdict) {
  if (!shown || busy || performance.now() - shownAt < UNREAD_MS) return;
  const strays = marked();
  const marks = verdict === "stray";
  if (marks !== strays.length > 0 || (marks && strays.length >= shown.lines.length)) {
    part.fault.textContent = marks ? "Mark the strays first, at least one and not all." : `Strays are marked: press ${hint(buttons.find((one) => one.dataset.verdict === "stray"))}, or remove the marks.`;
    part.fault.hidden = false;
    return;
  }
  const same = sent && sent.item === shown.item && sent.verdict === verdict;
  sent = { item: shown.item, number: shown.number, verdict, strays, note: part.note.value, verdict_id: same ? sent.verdict_id : randomName() };
  ask("review/verdicts", sent);
}

function onKey(event) {
  const active = document.activeElement;
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (active === part.note) {
    if (event.key === "Escape") part.question.focus();
    return;
  }
  const element = active.matches("#reviewer, #token") ? null : elementOf(event);
  if (!element) return;
  event.preventDefault();
  if (element.matches("input, textarea")) element.focus(); // in view, and read by a screen reader
  element.click();
}

part.who.addEventListener("submit", (event) => {
  event.preventDefault();
  if (part.token.value && !takeToken()) return;
  const name = part.reviewer.value.trim();
  if (name !== reviewer) { // nothing of one person is shown to another
    drafts.clear();
    storeDrafts();
    shown = sent = null;
  }
  reviewer = name;
  tabStorage.setItem("reviewer", reviewer);
  begin();
});
for (const button of buttons) {
  button.addEventListener("click", ({ detail }) => detail < 2 && judge(button.dataset.verdict)); // not the next item by a double click
}
part.note.addEventListener("input", keepDraft);
part.lines.addEventListener("change", keepDraft);
part.undo.addEventListener("click", () => ask("review/undo", { verdict_id: sent && !sent.refused ? sent.verdict_id : last }));
document.addEventListener("keydown", onKey);
offerKeys();
if (reviewer) {
  part.reviewer.value = reviewer; // it is asked for again if the server cannot be reached
  begin();
} else part.reviewer.select();
