{% include "page.js" %}
const WAIT_MS = 60;
const REPEATS = 5; // of a search that a busy server refuses; a page that nobody looks at must not go on
const LONGEST_ADDRESS = 7000; // characters of its parameters: nginx refuses a line of 8 KiB, and `qpr serve` a head of 64 KiB
const REASONS = {
  exact: "This question is in the index.",
  certified: "A certificate permits this answer.",
  below_confidence: "No known question is surely the same as yours.",
  no_certificate: "Without a certificate only questions of the index itself are answered.",
  expired: "The certificate has expired.",
  answer_ended: "The validity of the answer has ended.",
  no_answer: "The nearest question has no answer, or several.",
  alarm: "Audits found too many wrong answers, so the certificate permits nothing.",
  no_hit: "Nothing was found.",
  blocked: "The answer has been blocked.",
};

const DIFFERENCES = {
  symbols: "a symbol",
  numbers: "a number",
  negation: "a negation or an opposite",
  order: "the order of its parts",
  entity: "a name or a thing",
  action: "an action",
  answer_type: "the type of answer, such as a time or a price",
};

const FEATURES = {
  distance: "distance",
  margin: "distance to other clusters",
  isolation: "distance to further hits",
  mates: "hits of the same cluster",
  support: "hits of the same cluster near the top",
  shared: "shared words of your question",
  shared_of_hit: "shared words of the hit",
  differing: "words only in your question",
  differing_of_hit: "words only in the hit",
  length: "length of your question",
  alone: "hit in no cluster",
  rank: "rank",
};
const ALONE = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー\\p{Script=Hangul}\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff"; // no word of another script goes on in these
const KATAKANA = "\\p{Script=Katakana}ー";
const ARABIC_LETTERS = { ٱ: "ا", ة: "ه", ہ: "ه", ۃ: "ه", ى: "ي", ی: "ي", ک: "ك" };

const TITLE = document.title;
const filters = [...document.querySelectorAll("[data-filter]")];
let running = null;
let timer = 0;
let isKept = false; // the search that is shown was submitted: the next one is another entry of the history

function asked() {
  const parameters = new URLSearchParams({ q: part.question.value.trim() });
  if (part.mode) parameters.set("mode", part.mode.value);
  for (const [name, value] of Object.entries(chosen())) parameters.set(name, value);
  return parameters;
}

function chosen() {
  return Object.fromEntries(filters.map((element) => [element.dataset.filter, element.value]));
}

async function call(path, options = {}) {
  const headers = { ...options.headers, ...(token && { Authorization: `Bearer ${token}` }) };
  const response = await fetch(path, { ...options, headers });
  const body = await response.json().catch(() => ({ error: "the response is not JSON" }));
  const { status } = response;
  const pause = Number(response.headers.get("Retry-After")); // in seconds
  if (!response.ok) throw Object.assign(new Error(body.error ?? response.statusText), { status, pause });
  return body;
}

async function callPatiently(path, options, submitted) { // each request by itself: a server that permits one a second refuses two at once again and again
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await call(path, options);
    } catch (error) {
      if (!error.pause || repeats === REPEATS || options.signal.aborted) throw error;
      showFault(error, submitted);
      await new Promise((done) => setTimeout(done, 1000 * error.pause));
      if (options.signal.aborted) throw error;
    }
  }
}

async function search({ submitted = false } = {}) {
  clearTimeout(timer);
  running?.abort();
  const parameters = asked();
  enter(parameters, submitted);
  document.title = [parameters.get("q"), TITLE].filter(Boolean).join(" – "); // of the entry of the history that `enter` made
  if (!parameters.get("q")) return showNothing();
  const own = (running = new AbortController());
  const { signal } = own;
  const one = !part.mode || part.mode.selectedIndex === 0; // the answer comes in the first mode: then one search has both
  const body = JSON.stringify({ question: parameters.get("q"), ...(one && { k: Number(part.page.dataset.k) }), ...(filters.length && { filters: chosen() }) });
  const answering = { method: "POST", body, signal, headers: { "Content-Type": "application/json" } };
  part.found.ariaBusy = "true";
  const slow = setTimeout(() => (part.status.textContent = "Searching…"), 300);
  try {
    const [answered, found] = await Promise.all([
      callPatiently("answer", answering, submitted),
      one || callPatiently(`search?${parameters}`, { signal }, submitted),
    ]);
    const answer = answered.results[0];
    if (!signal.aborted) show(one ? answer.hits : found.results[0].hits, answer);
  } catch (error) {
    if (signal.aborted) return;
    own.abort(); // the other request too
    showFault(error, submitted);
  } finally {
    clearTimeout(slow);
    if (running === own) part.found.ariaBusy = "false";
  }
}

function enter(parameters, submitted) {
  const question = parameters.get("q");
  const isLong = `${parameters}`.length > LONGEST_ADDRESS;
  const entered = new URLSearchParams(isLong ? [...parameters].filter(([name]) => name !== "q") : parameters);
  const address = question && `${entered}` ? `?${entered}` : location.pathname;
  const state = isLong ? { question } : null; // a reload and the way back have it, a copied address does not
  const isOther = new URL(address, location.href).href !== location.href || history.state?.question !== state?.question;
  try {
    if (isOther) history[isKept ? "pushState" : "replaceState"](state, "", address);
  } catch {
    return; // Safari permits 100 changes in 30 s, which fast typing exceeds: the next search enters its address
  }
  isKept = submitted || (isKept && !isOther);
}

function showNothing() {
  part.answer.hidden = part.found.hidden = part.fault.hidden = true;
  part.status.textContent = `Type a question. The index has ${part.page.dataset.questions}.`;
}

function showFault(error, submitted) {
  part.answer.hidden = part.found.hidden = true;
  part.status.textContent = "";
  part.access.hidden = error.status !== 401;
  part.fault.hidden = false;
  part.fault.textContent = error.status ? `The server refused the request: ${error.message}.` : "The server does not respond. Press Search to try again.";
  if (error.status === 401 && submitted) part.token.focus(); // not from a question that a person is typing
}

function show(hits, answer) {
  part.fault.hidden = part.access.hidden = true;
  part.answer.hidden = false;
  part.answer.classList.toggle("answered", answer.answered);
  put(part.verdict, answer.answered ? "Answer" : "No known answer");
  put(part.text, answer.answered ? (answer.answer ?? answer.hit.text) : "");
  put(part.reason, reasonOf(answer.reason));
  part.found.hidden = !hits.length;
  part.scale.hidden = hits.every((hit) => hit.probability === null);
  part.hits.replaceChildren(...hits.map(hitOf));
  const count = hits.length ? `${hits.length} similar question${hits.length > 1 ? "s" : ""}` : "No question matches.";
  const note = history.state?.question ? " The question is too long for a link: the address is without it." : "";
  part.status.textContent = `${count}${note && hits.length ? "." : ""}${note}`;
}

function put(element, text) { // a screen reader reads a text that is put once more, even the same one
  if (element.textContent !== text) element.textContent = text;
}

function reasonOf(reason) {
  const guard = reason.startsWith("guard:") && reason.slice("guard:".length);
  return guard ? `Your question differs from the most similar one in ${differenceOf(guard)}.` : (REASONS[reason] ?? reason);
}

function differenceOf(guard) {
  return DIFFERENCES[guard] ?? guard?.replaceAll("_", " ");
}

function hitOf(hit) {
  const item = make("li", "", { class: "card" });
  const details = make("details");
  const summary = make("summary", "", { dir: "auto" });
  summary.append(marked(hit.text, hit.why.shared_words));
  if (hit.probability !== null) summary.append(make("span", percent(hit.probability), { class: "share faint", dir: "ltr" }));
  const wordings = make("div");
  details.append(summary, reasonsOf(hit), wordings);
  details.addEventListener("toggle", () => details.open && hit.cluster_id && !wordings.querySelector("ul") && showWordings(wordings, hit));
  item.append(details);
  if (hit.answer !== null) item.append(make("p", hit.answer, { class: "faint", dir: "auto" }));
  return item;
}

function percent(share) { // never 0 % or 100 % for a share between them, as in reports
  if (share > 0 && share < 0.005) return "<1 %";
  if (share >= 0.995 && share < 1) return ">99 %";
  return `${Math.round(100 * share)} %`;
}

function marked(text, shared) {
  const place = make("span", "", { class: "words" }); // a bdi has no part in the direction of the summary
  const characters = text.match(/[^][\p{M}\p{Cf}\u0640]*/gu) ?? [];
  const inWords = placesOf(shared, characters.map(folded));
  for (let start = 0, end; start < characters.length; start = end) {
    const isMarked = inWords.has(start);
    for (end = start + 1; end < characters.length && inWords.has(end) === isMarked; ) end += 1;
    const piece = characters.slice(start, end).join("");
    place.append(isMarked ? make("mark", piece) : piece);
  }
  return place;
}

function folded(character) { // nearly as `schemas.words` does: "ß" becomes "ss", Arabic loses vowel marks
  const normal = character.normalize("NFKC").replace(/\p{Cf}|\u0640/gu, "");
  const small = normal === "ı" ? normal : normal.toUpperCase().toLowerCase();
  const plain = small.normalize("NFD").replace(/[\u0610-\u061a\u064b-\u065f\u0670]|(?<=i)\u0307/g, "").replace(/\p{Nd}/gu, digitOf);
  return plain.normalize("NFC").replace(/[ٱةہۃىیک]/g, (letter) => ARABIC_LETTERS[letter]);
}

function digitOf(decimal) {
  const code = decimal.codePointAt(0);
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1; // the ten digits of a script follow each other
  return value % 10;
}

function placesOf(shared, characters) {
  const text = characters.join("");
  const numbers = characters.flatMap((character, number) => Array(character.length).fill(number));
  const places = new Set();
  for (const word of shared) {
    const literal = word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
    const [before, after] = edgesOf(word);
    for (const { index } of text.matchAll(new RegExp(`(?=${literal}${after})${before}`, "gu"))) { // words can overlap
      for (let unit = index; unit < index + word.length; unit += 1) places.add(numbers[unit]);
    }
  }
  return places;
}

function edgesOf(word) { // what must not stand before and after it
  if (new RegExp(`^[${KATAKANA}]`, "u").test(word)) return [`(?<![${KATAKANA}])`, `(?![${KATAKANA}])`];
  if (new RegExp(`[${ALONE}]`, "u").test(word)) return ["", ""];
  return [`(?<!(?![${ALONE}])[\\p{L}\\p{M}\\p{N}\\p{Sc}_])`, `(?!(?![${ALONE}])[\\p{L}\\p{M}\\p{N}_+#%])`];
}

function reasonsOf(hit) {
  const { why } = hit;
  const place = make("div", "", { class: "faint" });
  const ranks = [
    ["rank by meaning", why.dense_rank],
    ["rank by words", why.lexical_rank],
    ["differs in", differenceOf(why.guard)],
    ["times asked", hit.events?.toLocaleString()],
  ];
  place.append(listOf(ranks));
  const contributions = Object.entries(why.contributions);
  const signed = contributions.map(([name, value]) => [FEATURES[name] ?? name, `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`]);
  if (signed.length) place.append(make("p", "Contributions to the probability, in log odds:"), listOf(signed));
  return place;
}

function listOf(rows) {
  const list = make("dl");
  for (const [name, value] of rows) if (value !== null && value !== undefined) list.append(make("dt", name), make("dd", value));
  return list;
}

async function showWordings(wordings, hit) {
  const place = make("p", "Loading other wordings…", { class: "faint" });
  wordings.replaceChildren(place);
  try {
    const cluster = await call(`clusters/${hit.cluster_id}${filters.length ? `?${new URLSearchParams(chosen())}` : ""}`);
    const others = cluster.questions.filter((question) => question.question_id !== hit.question_id);
    place.textContent = others.length ? "Other wordings:" : "There is no other wording.";
    const list = make("ul");
    for (const question of others) list.append(make("li", question.text, { dir: "auto" }));
    wordings.replaceChildren(place, list);
  } catch (error) {
    const reason = error.status ? error.message : "the server does not respond";
    place.textContent = `Other wordings cannot be shown: ${reason}. Close and open the question to try again.`;
  }
}

async function copy() {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const access = token ? ` -H ${quoted("Authorization: Bearer TOKEN")}` : "";
  const command = `curl -s${access} ${quoted(new URL(`search?${asked()}`, location.href).href)}`;
  try {
    await navigator.clipboard.writeText(command);
    part.status.textContent = "Copied.";
  } catch {
    part.status.textContent = command;
  }
}

function moves({ key, shiftKey }) { // elsewhere the arrows scroll, and with Shift they select
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  const stops = [part.question, ...part.hits.querySelectorAll("summary")];
  const place = stops.indexOf(document.activeElement);
  if (!step || shiftKey || place < 0) return false;
  stops[Math.min(Math.max(place + step, 0), stops.length - 1)].focus();
  return true;
}

function onKey(event) {
  const active = document.activeElement;
  const keyed = active.matches("input:not([type=checkbox])") ? null : elementOf(event);
  if (event.isComposing) return; // arrows and Esc are for the list of an input method
  if (event.ctrlKey || event.metaKey || event.altKey || active.matches("select")) return;
  if (keyed) keyed.focus();
  else if (event.key === "Escape" && active !== part.question) part.question.focus();
  else if (event.key === "Escape") part.question.value = "", search();
  else if (!moves(event)) return;
  event.preventDefault();
}

function restore() {
  const parameters = new URLSearchParams(location.search);
  part.question.value = history.state?.question ?? parameters.get("q") ?? "";
  if (part.mode) choose(part.mode, parameters.get("mode"));
  for (const element of filters) choose(element, parameters.get(element.dataset.filter));
  isKept = false; // an address without a mode gets one: no other entry
  search();
  isKept = part.question.value !== "";
}

function choose(element, value) {
  if (value === null || (element.options && ![...element.options].some((option) => option.value === value))) return;
  element.value = value; // of a list only a value that it has: another one would choose none
}

part.question.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, WAIT_MS); });
part.form.addEventListener("submit", (event) => { event.preventDefault(); search({ submitted: true }); });
part.mode?.addEventListener("change", search);
for (const element of filters) element.addEventListener("change", search);
part.access.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!takeToken()) return;
  part.question.focus();
  search({ submitted: true });
});
part.copy.addEventListener("click", copy);
document.addEventListener("keydown", onKey);
offerKeys();
addEventListener("popstate", restore);
restore();
part.question.focus();
