// The page: asks for a job, draws it, and from then on asks only for what is new. A report brings its answers along.
"use strict";

const $ = (id) => document.getElementById(id);
const REPORT = window.PENSTOCK_REPORT || null;
const COLORS = [..."01234567"].map((n) => `var(--c${n})`);
const MOST_PLANS = 2000, MOST_BUCKETS = 1200, QUICKEST_MS = 1000, SLOWEST_MS = 10000;

let job = null; // the answer to the newest whole question, with what was new added to it
let view = { begin: null, end: null }; // the part of the time that is shown; null: all
let listed = []; // decisions, newest first
let generation = 0; // of the job or the view that was chosen: answers to earlier ones are dropped

async function ask(path, parameters = {}) {
  if (REPORT) return REPORT[path](parameters);
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== null));
  const answer = await fetch(`${path}?${query}`);
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error);
  return body;
}

function trouble(error) {
  $("trouble").hidden = !error;
  $("trouble").textContent = error ? error.message : "";
  $("pulse").hidden = REPORT !== null || (!job && !error);
  $("pulse").className = `pulse ${error ? "lost" : fresh() ? "live" : ""}`;
  $("pulse").textContent = error ? "no answer" : fresh() ? "live" : !job ? "" : job.simulated ? "simulated"
    : `last cycle ${ago(Date.now() / 1000 - job.ended)} ago`;
}

const several = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
const interval = () => (job && job.description ? job.description.interval_seconds : 10);
const ago = (seconds) => seconds < 120 ? `${Math.round(seconds)} s` : seconds < 7200 ? `${Math.round(seconds / 60)} min`
  : seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
const fresh = () => job !== null && !job.simulated && Date.now() / 1000 - job.ended < 5 * interval() + 10;

// Charts ----------------------------------------------------------------------------------------------------------

const on = {
  hover: (t) => Object.values(charts).forEach((chart) => chart.point(t)),
  zoom: (begin, end) => { view = { begin, end }; if (REPORT) draw(); else load(); },
  choose: (mark) => pick(mark.number).catch(trouble),
};
const charts = {
  rate: new Chart("Load", "records/s", short, on),
  latency: new Chart("Latency against its target", "", milliseconds, on),
  parallelism: new Chart("Parallelism by operator", "instances", short, on, true),
  executors: new Chart("Executors", "number", short, on, true),
  backlog: new Chart("Backlog", "records in the source", short, on, true),
  cost: new Chart("Cost so far", "slot-hours, nominal", short, on),
};
$("charts").append(...Object.values(charts).map((chart) => chart.host));

const column = (name) => job.chart.t.map((t, i) => [t, job.chart[name][i]]);
const has = (name) => job.chart[name].some((value) => value !== null);
const size = (plan) => slots(plan) + (plan.executors || 0) / 1000; // of the same slots, the one with fewer executors
const plans = (read) => job.plans.map((plan) => [plan.t, read(plan)]);
const slots = (plan) => {
  const k = Object.values(plan.parallelism);
  return job.description && job.description.execution === "sequential" ? Math.max(...k) : k.reduce((a, b) => a + b, 0);
};

function draw() {
  const begin = view.begin === null ? job.began : view.begin, end = view.end === null ? job.ended : view.end;
  const axis = { begin, end: Math.max(end, begin + 1), simulated: job.simulated, last: job.ended };
  const marks = job.plans.map((plan, i) => ({ t: plan.t, number: plan.number, changed: plan.changed,
    grows: i > 0 && size(plan.in_force) >= size(job.plans[i - 1].in_force) })).filter((plan) => plan.changed);
  const shaded = missed();
  const slo = job.description ? job.description.slo : {};
  const show = (name, series, target = null) => charts[name].show(axis, series, marks, shaded, target);
  show("rate", [
    { name: "offered", color: COLORS[0], points: column("input_rate"), area: true },
    { name: "completed", color: COLORS[1], points: column("throughput") },
  ]);
  const latencies = [["event", "event_latency_ms"], ["processing", "processing_latency_ms"]].filter((each) => has(each[1]));
  const target = slo.event_latency_ms ?? slo.processing_latency_ms ?? null;
  charts.latency.unit.textContent = slo.statistic ? `${slo.statistic} of a window` : "";
  show("latency", latencies.map(([name, key], i) => ({ name, color: COLORS[i], points: column(key) })), target);
  const names = operators(), acts = job.latest.mode === "active";
  const whole = job.plans.length < MOST_PLANS; // of more plans than that the oldest are left out
  charts.parallelism.unit.textContent = whole ? "instances" : "zoom in to see operators";
  show("parallelism", whole ? names.map((name, i) => ({
    name, color: COLORS[i % COLORS.length], step: true, points: plans((plan) => plan.in_force.parallelism[name] ?? null),
  })) : [{ name: "slots on average", color: COLORS[0], points: job.chart.t.map((t, i) =>
    [t, job.chart.held_seconds[i] ? job.chart.slot_seconds[i] / job.chart.held_seconds[i] : null]) }]);
  charts.executors.host.hidden = !has("executors") && !job.plans.some((plan) => plan.in_force.executors);
  charts.rate.host.classList.toggle("wide", charts.executors.host.hidden); // the first of an odd number
  show("executors", [
    { name: "present", color: COLORS[1], points: column("executors"), area: true },
    { name: "requested", color: COLORS[0], step: true, points: plans((plan) => plan.in_force.executors ?? null) },
    { name: "leaving", color: COLORS[2], points: column("leaving") },
    ...(acts ? [] : [{ name: "would request", color: COLORS[7], step: true, dash: "3 3",
      points: plans((plan) => plan.decided.executors ?? null) }]),
  ]);
  show("backlog", [{ name: "waiting", color: COLORS[2], points: column("backlog") }]);
  const cost = costs();
  show("cost", [
    { name: "this job", color: COLORS[0], points: cost.taken, area: true },
    { name: `a fixed plan of ${several(cost.most, "slot")}`, color: COLORS[7], dash: "5 4", points: cost.fixed },
  ]);
  head(slo, target, cost);
  graph();
}

const operators = () => (job.description ? job.description.order : Object.keys(job.latest.in_force.parallelism));

function missed() {
  const { t, missed_seconds, measured_seconds } = job.chart;
  return t.map((at, i) => [at, i]).filter(([, i]) => missed_seconds[i] > 0)
    .map(([at, i]) => [at - Math.max(measured_seconds[i], job.bucket_seconds / 2), at, missed_seconds[i] / measured_seconds[i]]);
}

// What the plans held until each point, and what the largest of them would have held all the time.
function costs() {
  const most = Math.max(...job.plans.map((plan) => slots(plan.in_force)), ...job.chart.most_slots, 1);
  let taken = 0, fixed = 0;
  const sums = { taken: [], fixed: [], most };
  job.chart.t.forEach((t, i) => {
    taken += (job.chart.slot_seconds[i] || 0) / 3600;
    fixed += most * (job.chart.held_seconds[i] || 0) / 3600;
    sums.taken.push([t, taken]);
    sums.fixed.push([t, fixed]);
  });
  return sums;
}

// The head: tiles and the graph -----------------------------------------------------------------------------------

const newest = (name) => { const known = job.chart[name].filter((v) => v !== null); return known.length ? known.at(-1) : null; };

function tile(name, value, note, tone = "") {
  return element("div", { class: `tile ${tone}` }, element("span", {}, name), element("b", {}, value),
    element("small", {}, note));
}

function head(slo, target, cost) {
  const latency = newest(slo.event_latency_ms || !has("processing_latency_ms") ? "event_latency_ms" : "processing_latency_ms");
  const sum = (name) => job.chart[name].reduce((a, b) => a + (b || 0), 0), measured = sum("measured_seconds");
  const outside = measured ? sum("missed_seconds") / measured : null, held = cost.fixed.at(-1)?.[1] || 0;
  const saved = held ? 1 - cost.taken.at(-1)[1] / held : null;
  const kind = slo.event_latency_ms || !has("processing_latency_ms") ? "Event latency" : "Processing latency";
  const aim = target === null ? "no target" : `target ${milliseconds(target)}`;
  const present = newest("executors"), leaving = newest("leaving"), plan = job.latest.in_force;
  const requested = plan.executors ? `${plan.executors} requested` : "present";
  $("tiles").replaceChildren(
    tile("Offered", short(newest("input_rate")), "records/s"),
    tile("Completed", short(newest("throughput")), "records/s"),
    tile(kind, milliseconds(latency), aim, target === null || latency === null ? "" : latency > target ? "bad" : "good"),
    tile("Backlog", short(newest("backlog")), "records wait"),
    tile("Slots", String(slots(plan)), "in the plan in force"),
    ...(present === null ? [] : [tile("Executors", short(present), requested + (leaving ? `, ${leaving} leaving` : ""))]),
    tile("Outside targets", outside === null ? "–" : (100 * outside).toFixed(1) + " %", "of the time measured",
      outside > 0.05 ? "bad" : ""),
    tile("Saved", saved === null ? "–" : (100 * saved).toFixed(0) + " %", `of ${several(cost.most, "slot")} all the time`));
  now();
  $("mode").textContent = job.latest.mode;
  $("mode").className = `badge ${job.latest.mode}`;
  const every = job.description ? `, every ${short(interval())} s` : "";
  $("about").textContent = REPORT ? REPORT.words : `${job.latest.policy}${every}, ${several(job.number, "cycle")}`;
}

// What it does at present, in a sentence: above all why it does nothing.
function now() {
  const latest = job.latest, holds = moves(latest).startsWith("hold");
  const held = latest.guards.length ? moves(latest).replace("hold", "Holds") : "Holds";
  const what = latest.problem ? "A change failed" : latest.changed ? moves(latest) : holds ? held : `Would: ${moves(latest)}`;
  $("now").className = `card ${latest.problem ? "failed" : latest.changed ? "changed" : ""}`;
  $("now").replaceChildren(element("b", {}, what), " ", element("span", {}, because(latest)));
  $("now").hidden = REPORT !== null;
}

const NODE = { width: 152, height: 52, gapX: 44, gapY: 14 };

function graph() {
  const names = operators(), edges = job.description ? job.description.edges : [];
  const depth = {}, rows = {};
  for (const name of names) depth[name] = Math.max(0, ...edges.filter((e) => e[1] === name).map((e) => depth[e[0]] + 1));
  const place = {};
  for (const name of names) {
    const row = (rows[depth[name]] = (rows[depth[name]] ?? -1) + 1);
    place[name] = [1 + depth[name] * (NODE.width + NODE.gapX), 1 + row * (NODE.height + NODE.gapY)];
  }
  const width = Math.max(...Object.values(place).map((p) => p[0])) + NODE.width + 2;
  const height = Math.max(...Object.values(place).map((p) => p[1])) + NODE.height + 2;
  const parts = edges.map(([from, to]) => {
    const [x1, y1] = [place[from][0] + NODE.width, place[from][1] + NODE.height / 2];
    const [x2, y2] = [place[to][0], place[to][1] + NODE.height / 2], half = (x1 + x2) / 2;
    return element("path", { class: "edge", d: `M${x1} ${y1}C${half} ${y1} ${half} ${y2} ${x2} ${y2}` });
  });
  for (const name of names) parts.push(node(name, ...place[name]));
  $("graph").replaceChildren(element("h2", {}, "The job"),
    element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "graph" }, ...parts));
}

function node(name, x, y) {
  const figures = job.latest.operators[name] || {}, used = figures.utilisation ?? null;
  const tone = used === null ? "" : used > 0.97 ? "over" : used > 0.85 ? "busy" : "", inner = NODE.width - 16;
  const k = job.latest.in_force.parallelism[name], long = name.length > 14 ? name.slice(0, 13) + "…" : name;
  return element("g", { class: `node ${tone}`, "data-operator": name, transform: `translate(${x} ${y})` },
    element("title", {}, `${name}: ${k} instances, ${short(figures.rate)} records/s, ${short(figures.queue)} queued`),
    element("rect", { width: NODE.width, height: NODE.height, rx: 7 }),
    element("text", { class: "name", x: 8, y: 17 }, long),
    element("text", { x: NODE.width - 8, y: 17, "text-anchor": "end" }, "×" + k),
    element("text", { x: 8, y: 33 }, used === null ? "not measured" : `${(100 * used).toFixed(0)} % busy`),
    element("text", { x: NODE.width - 8, y: 33, "text-anchor": "end" }, figures.rate == null ? "" : short(figures.rate) + "/s"),
    element("rect", { class: "full", x: 8, y: 40, width: inner, height: 5, rx: 2 }),
    element("rect", { class: "used", x: 8, y: 40, width: inner * Math.min(1, used || 0), height: 5, rx: 2 }));
}

// Decisions ---------------------------------------------------------------------------------------------------------

const planText = (plan) => Object.entries(plan).map(([name, k]) => `${name} ${k}`).join(", ");

function moves(decision) {
  const moved = Object.entries(decision.parallelism).filter(([name, k]) => decision.before[name] !== k);
  if (moved.length) return moved.map(([name, k]) => `${name} ${decision.before[name]} → ${k}`).join(", ");
  if (decision.changed) return `${decision.executors} executors`;
  const guard = decision.guards.at(-1), why = words(decision.reason.code);
  return guard ? `hold: ${words(guard.name)}, no ${why}` : `hold: ${why}`;
}

const words = (code) => code.replaceAll("_", " ");
// Why it is so: what went wrong, which guard held it back, or what the policy says.
const because = (decision) => decision.problem
  || (decision.changed || !decision.guards.length ? decision.reason.text : decision.guards.at(-1).text);

function decisionItem(decision) {
  const title = decision.changed || decision.problem ? moves(decision) : moves(decision).startsWith("hold") ? moves(decision)
    : `would: ${moves(decision)}`;
  const button = element("button", { type: "button", "aria-expanded": "false" },
    element("time", {}, moment(decision.t, job.simulated, 1)), element("span", { class: "what" }, title),
    element("span", { class: "why" }, because(decision)));
  const kind = decision.problem ? "failed" : decision.changed ? "changed" : "";
  const item = element("li", { class: kind, "data-number": decision.number }, button);
  button.addEventListener("click", () => open(item, button, decision.number));
  return item;
}

async function open(item, button, number) {
  const shown = item.querySelector(".detail");
  button.setAttribute("aria-expanded", String(!shown));
  if (shown) { shown.remove(); return; }
  try {
    item.append(detail(await ask("/api/decision", { job: job.job, number })));
  } catch (error) { trouble(error); }
}

// The decision that was chosen on a chart, apart from the list.
async function pick(number) {
  const all = await ask("/api/decision", { job: job.job, number }), close = element("button", { type: "button" }, "Close");
  close.addEventListener("click", () => { $("picked").hidden = true; });
  $("picked").replaceChildren(element("h2", {}, `At ${moment(all.t, job.simulated, 1)}: ${moves(all)}`, close), detail(all));
  $("picked").hidden = false;
  $("picked").scrollIntoView({ block: "nearest" });
}

function rows(pairs) {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "–");
  return known.length ? element("table", {}, ...known.map(([name, value, tone]) =>
    element("tr", {}, element("th", {}, name), element("td", { class: tone || "" }, value)))) : null;
}

function detail(all) {
  const expected = all.expected, after = all.afterwards, figures = { ...all.figures };
  const box = element("div", { class: "detail" });
  const part = (title, ...content) => content.some((each) => each) && box.append(element("h3", {}, title), ...content.filter(Boolean));
  part("Reason", element("div", {}, `${all.reason.code.replaceAll("_", " ")} (${all.meaning}): ${all.reason.text}`),
    ...all.guards.map((guard) => element("div", { class: "verdict" }, `${guard.name}: ${guard.text}`)),
    all.problem ? element("div", { class: "bad" }, all.problem) : null);
  part("Plan", rows([["before", planText(all.before)], ["asked for", planText(all.wanted.parallelism)],
    ["decided", planText(all.parallelism)], ["executors", all.executors],
    ["the change took", all.change_seconds === null ? null : `${all.change_seconds.toFixed(1)} s`]]));
  part("Expected and measured afterwards", table(["", "expected", "afterwards"], [
    ["records/s", short(expected.throughput), after ? short(after.throughput) : "–"],
    ["processing latency", milliseconds(expected.processing_latency_ms), after ? milliseconds(after.processing_latency_ms) : "–"],
    ["event latency", milliseconds(expected.event_latency_ms), after ? milliseconds(after.event_latency_ms) : "–"]]),
    after ? element("div", { class: after.missed_seconds ? "bad" : "good" },
      `${short(after.missed_seconds)} s of ${short(after.seconds)} s outside the targets` +
      (after.warm_up_seconds ? `, ${short(after.warm_up_seconds)} s of warming up` : "") +
      (after.until_the_next_change ? ", until the next change" : " so far"))
      : element("div", {}, "nothing has been measured since"));
  part("Forecast, records/s", forecast(figures));
  part("Alternatives", alternatives(figures));
  part("Measured before it", all.samples.length ? table(["window", "offered", "completed", "event latency", "backlog"],
    all.samples.map((s) => [`${short(s.seconds)} s${s.warm_up ? ", warm-up" : ""}`, short(s.input_rate), short(s.throughput),
      milliseconds(s.event_latency_ms), short(s.backlog)])) : null);
  for (const name of ["forecast", "alternatives", "forecasters"]) delete figures[name];
  part("Figures", rows(Object.entries(figures).map(([name, value]) => [name, figure(value)])));
  return box;
}

function figure(value) {
  if (typeof value === "number") return short(value);
  if (value === null || typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.map(figure).join(", ");
  return Object.entries(value).map(([name, each]) => `${name} ${figure(each)}`).join(", ");
}

function table(names, lines, chosen = () => false) {
  return element("div", { class: "scroll" }, element("table", {},
    element("tr", {}, ...names.map((name) => element("th", {}, name))),
    ...lines.map((line, i) => element("tr", { class: chosen(i) ? "chosen" : "" }, ...line.map((cell) => element("td", {}, cell))))));
}

function forecast(figures) {
  if (!figures.forecast || typeof figures.forecast !== "object") return null;
  const ahead = Object.entries(figures.forecast).filter(([, levels]) => levels && typeof levels === "object");
  if (!ahead.length) return null;
  const levels = Object.keys(ahead[0][1]);
  const weights = figures.forecasters ? element("div", {}, "by " + figure(figures.forecasters)) : null;
  return element("div", {}, table(["ahead", ...levels.map((level) => `${100 * level} %`)], ahead.map(([seconds, values]) =>
    [`${seconds / 60} min`, ...levels.map((level) => short(values[level]))])), weights);
}

function alternatives(figures) {
  const known = figures.alternatives;
  if (!Array.isArray(known) || !known.length) return null;
  return table(["plan", "slots", "carries", "why not"], known.map((each) => [planText(each.parallelism || {}), short(each.slots),
    short(each.carries), each.why ?? ""]), (i) => known[i].why === "chosen");
}

async function list(older = false) {
  const mine = generation, kind = $("changes-only").checked ? "changes" : "all";
  const before = older && listed.length ? listed.at(-1).number : null;
  const answer = await ask("/api/decisions", { job: job.job, before, kind });
  if (mine !== generation) return;
  listed = older ? [...listed, ...answer.decisions] : answer.decisions;
  const items = answer.decisions.map(decisionItem);
  if (older) $("decisions").append(...items); else $("decisions").replaceChildren(...items);
  $("more").hidden = !answer.decisions.length || answer.decisions.at(-1).number <= answer.first;
}

async function listNew() {
  const after = listed.length ? listed[0].number : 0, kind = $("changes-only").checked ? "changes" : "all";
  const mine = generation, answer = await ask("/api/decisions", { job: job.job, after, kind });
  if (mine !== generation || !answer.decisions.length) return;
  if (answer.decisions.at(-1).number > after + answer.decisions.length && kind === "all") return list(); // too many at a time
  listed = [...answer.decisions, ...listed];
  $("decisions").prepend(...answer.decisions.map(decisionItem));
}

// What if -----------------------------------------------------------------------------------------------------------

function planForm() {
  $("what-if").hidden = !job.description || REPORT !== null;
  if ($("what-if").hidden) return;
  const fields = job.description.operators.map((operator) => element("label", { title: operator.name },
    element("span", {}, operator.name), element("input", {
    type: "number", name: operator.name, min: operator.min, max: operator.max,
    value: job.latest.in_force.parallelism[operator.name], required: "" })));
  $("plan").replaceChildren(...fields, element("button", {}, "Ask"));
  $("outlook").textContent = "";
}

$("plan").addEventListener("submit", async (event) => {
  event.preventDefault();
  const plan = Object.fromEntries([...new FormData($("plan"))].map(([name, k]) => [name, Number(k)]));
  try {
    const answer = await ask("/api/what-if", { job: job.job, plan: JSON.stringify(plan) });
    const busy = Object.entries(answer.utilisation).map(([name, share]) => `${name} ${(100 * share).toFixed(0)} %`).join(", ");
    const then = answer.expected || {};
    $("outlook").textContent = answer.sentence + "." +
      (then.processing_latency_ms ? ` Processing latency ${milliseconds(then.processing_latency_ms)}.` : "") +
      (busy ? ` Busy: ${busy}.` : "");
  } catch (error) { $("outlook").textContent = error.message; }
});

// Asking ------------------------------------------------------------------------------------------------------------

async function load() {
  const mine = ++generation;
  const answer = await ask("/api/job", { job: $("jobs").value, begin: view.begin, end: view.end });
  if (mine !== generation) return;
  const other = job === null || job.job !== answer.job;
  job = answer;
  draw();
  if (other) { planForm(); await list(); }
}

// Adds what is new to what is shown: the last bucket again, as it may have grown, and those behind it.
async function news() {
  const mine = generation, last = job.chart.number.length - 1;
  if (last < 0 || last > MOST_BUCKETS) return load();
  const answer = await ask("/api/job", { job: job.job, since: job.chart.number[last], bucket: job.bucket_seconds });
  if (mine !== generation) return undefined;
  if (answer.began !== job.began) { job = null; return load(); } // a simulation that was run again
  if (answer.number === job.number) return undefined;
  for (const name of Object.keys(job.chart)) job.chart[name] = [...job.chart[name].slice(0, last), ...answer.chart[name]];
  const known = job.plans.length ? job.plans.at(-1).number : 0;
  answer.plans = [...job.plans, ...answer.plans.filter((plan) => plan.number > known)];
  answer.chart = job.chart;
  job = answer;
  draw();
  return listNew();
}

async function choose() {
  const { jobs, store } = await ask("/api/jobs"), wanted = $("jobs").value || decodeURIComponent(location.hash.slice(1));
  const names = jobs.map((each) => each.name), shown = [...$("jobs").options].map((option) => option.value);
  if (String(names.toSorted()) === String(shown.toSorted())) return;
  $("jobs").replaceChildren(...names.map((name) => element("option", { value: name }, name)));
  $("jobs").title = store;
  if (names.includes(wanted)) $("jobs").value = wanted;
}

async function turn() {
  try {
    if (!job) await choose();
    if (!job && !$("jobs").value) throw new Error("nothing has been recorded in this store yet");
    if (!job) await load();
    else if (view.begin === null) await news();
    trouble(null);
    if (Math.random() < 0.1) await choose(); // jobs that were added
  } catch (error) { trouble(error); }
  if (!REPORT) setTimeout(turn, Math.min(SLOWEST_MS, Math.max(QUICKEST_MS, 500 * interval())));
}

$("jobs").addEventListener("change", () => {
  view = { begin: null, end: null };
  history.replaceState(null, "", "#" + encodeURIComponent($("jobs").value));
  load().catch(trouble);
});
$("changes-only").addEventListener("change", () => list().catch(trouble));
$("more").addEventListener("click", () => list(true).catch(trouble));
turn();
