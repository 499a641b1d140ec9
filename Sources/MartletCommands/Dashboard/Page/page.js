"use strict";
const interval = 2000, shown = 200, remembered = 150;
const place = id => document.getElementById(id);
const make = (tag, name, text) => {
  const node = document.createElement(tag);
  if (name) node.className = name;
  // Text only: a name or a reason is never markup.
  if (text !== undefined && text !== null) node.textContent = String(text);
  return node;
};
const count = number => number === null || number === undefined ? "–" : Math.round(number).toLocaleString("en");
const rate = number => number === null || number === undefined ? "–"
  : number >= 100 ? count(number) : String(Math.round(number * 10) / 10);
const size = bytes => {
  if (bytes === null || bytes === undefined) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let step = 0;
  while (bytes >= 1024 && step < units.length - 1) { bytes /= 1024; step += 1; }
  return (step && bytes < 10 ? bytes.toFixed(1) : Math.round(bytes)) + " " + units[step];
};
const ago = milliseconds => {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return seconds + " s";
  if (seconds < 7200) return Math.round(seconds / 60) + " min";
  return seconds < 172800 ? Math.round(seconds / 3600) + " h" : Math.round(seconds / 86400) + " d";
};
const sum = (list, key) => list.reduce((all, one) => all + (one[key] || 0), 0);

// A table of cells: [heading, class, what a row shows, the class of what it shows].
const table = (id, columns, rows, none) => {
  const head = make("tr");
  for (const [name, kind] of columns) head.append(make("th", kind, name));
  place(id + "-head").replaceChildren(...(rows.length ? [head] : []));
  const lines = rows.slice(0, shown).map(row => {
    const line = make("tr");
    for (const [, kind, value, mark] of columns) {
      line.append(make("td", [kind, mark && mark(row)].filter(Boolean).join(" "), value(row)));
    }
    return line;
  });
  if (!rows.length || rows.length > shown) {
    const line = make("tr"), cell = make("td", "note", rows.length ? "and " + count(rows.length - shown) + " more" : none);
    cell.colSpan = columns.length;
    line.append(cell);
    lines.push(line);
  }
  place(id).replaceChildren(...lines);
};

const good = new Set(["ready", "running"]), bad = new Set(["silent", "parked", "unreachable", "not_ready"]);
// Queues that somebody should read all the time.
const consumed = /^apns\.q\.(jobs|results)(\.|$)/;
const mark = state => good.has(state) ? "good" : bad.has(state) ? "bad" : "warn";
const words = state => String(state).replaceAll("_", " ");

const findings = list => place("findings").replaceChildren(...(list.length ? list.map(finding => {
  const box = make("div", "finding");
  box.dataset.urgency = finding.urgency;
  const title = make("div");
  title.append(make("b", finding.urgency === "now" ? "bad" : "warn", finding.urgency),
    document.createTextNode(finding.object + ": " + finding.detail));
  const next = make("div", "note");
  next.append(document.createTextNode("→ "), make("code", "", finding.next));
  box.append(title, next);
  return box;
}) : [make("p", "good", "Nothing needs a person.")]));

const rates = [];
const figures = status => {
  const now = sum(status.workers, "accepted_per_s");
  rates.push(now);
  while (rates.length > remembered) rates.shift();
  place("rate").textContent = rate(now);
  const top = Math.max(1, ...rates);
  place("history").firstElementChild.setAttribute("points", rates.map((value, index) =>
    (remembered - rates.length + index) + "," + (29 - 28 * value / top).toFixed(1)).join(" "));
  const jobs = status.queues.filter(queue => queue.name.startsWith("apns.q.jobs."));
  place("waiting").textContent = count(sum(jobs, "ready"));
  place("waiting-note").textContent = count(sum(jobs, "unacknowledged")) + " with workers";
  const ready = status.workers.filter(worker => worker.state === "ready").length;
  place("worker-count").textContent = count(status.workers.length);
  place("worker-note").textContent = status.workers_trouble || count(ready) + " ready";
  place("worker-note").className = status.workers_trouble ? "note bad" : "note";
  place("dead").textContent = count(sum(status.dead_letters, "count"));
  place("dead-note").textContent = status.dead_letters.map(one => count(one.count) + " in " + one.queue).join(", ");
};

const draw = status => {
  place("place").textContent = "virtual host " + status.broker.virtual_host + " at " + status.broker.management
    + (status.broker.version ? ", RabbitMQ " + status.broker.version : "");
  figures(status);
  findings(status.findings);
  table("routes", [
    ["route", "name", row => row.name],
    ["state", "", row => words(row.state) + (row.reason ? ": " + row.reason : ""), row => mark(row.state)],
    ["accepted/s", "count", row => rate(row.accepted_per_s)], ["in flight", "count", row => count(row.in_flight)],
    ["waiting", "count wide", row => count(row.waiting)], ["connections", "count wide", row => count(row.connections)],
    ["limited by", "wide", row => row.limited_by.join(", ")],
    ["workers", "count", row => count(row.workers.length)],
    ["dead tokens", "wide", row => row.holds_tokens ? "held" : "", () => "warn"],
  ], status.routes, status.workers_trouble || "No worker has reported a route.");
  table("workers", [
    ["worker", "name", row => row.instance],
    ["state", "", row => words(row.state) + (row.reasons.length ? ": " + row.reasons.join("; ") : ""),
      row => mark(row.state)],
    ["accepted/s", "count", row => rate(row.accepted_per_s)], ["in flight", "count", row => count(row.in_flight)],
    ["routes", "count wide", row => count(row.routes)], ["version", "wide", row => row.version],
    ["up", "count wide", row => ago(status.at - row.started_at)],
    ["heard", "count wide", row => ago(status.at - row.reported_at) + " ago"],
  ], status.workers, status.workers_trouble || "No worker has reported in the last five minutes.");
  table("queues", [
    ["queue", "name", row => row.name], ["ready", "count", row => count(row.ready)],
    ["unacknowledged", "count wide", row => count(row.unacknowledged)],
    ["consumers", "count", row => count(row.consumers), row => row.ready && !row.consumers && consumed.test(row.name) ? "warn" : ""],
    ["in/s", "count wide", row => rate(row.in_per_s)], ["out/s", "count wide", row => rate(row.out_per_s)],
    ["size", "count wide", row => size(row.bytes) + (row.limit_bytes ? " of " + size(row.limit_bytes) : "")],
  ], status.queues, "The virtual host has no queue.");
  table("control", [
    ["what", "name", row => row.action !== "rate" ? row.action : row.per_second === undefined ? "rate off" : `rate ${row.per_second}/s`],
    ["of", "", row => row.route ? "route " + row.route : "campaign " + row.campaign],
    ["until", "", row => row.until ? new Date(row.until).toLocaleString() : "taken back"],
    ["by", "wide", row => row.author], ["why", "wide", row => row.reason || ""],
  ], status.control, status.control_trouble || "Nothing is paused, cancelled or paced.");
  table("failures", [
    ["outcome", "name", row => row.outcome], ["reason", "", row => row.reason || ""],
    ["count", "count", row => count(row.count)],
  ], status.failures, "None.");
  table("nodes", [
    ["node", "name", row => row.name],
    ["state", "", row => row.running ? row.memory_alarm ? "memory alarm" : row.disk_alarm ? "disk alarm" : "running"
      : "not running", row => row.running && !row.memory_alarm && !row.disk_alarm ? "good" : "bad"],
    ["memory", "count", row => size(row.memory_bytes) + " of " + size(row.memory_limit_bytes)],
    ["disk free", "count", row => size(row.disk_free_bytes)],
  ], status.broker.nodes || [], "This user may not see the nodes: they need the tag monitoring.");
  place("facts").hidden = false;
};

const tell = (text, state, trouble) => {
  place("live").textContent = text;
  place("live").className = "chip " + state;
  place("trouble").textContent = trouble || "";
  place("trouble").hidden = !trouble;
  place("facts").className = trouble ? "old" : "";
};
const look = async () => {
  try {
    const answer = await fetch("status.json", { cache: "no-store" });
    const status = await answer.json();
    if (status.error) return tell("no status", "off", status.error + (status.remedy ? "\n" + status.remedy : ""));
    draw(status);
    tell("live", "on");
  } catch {
    tell("not connected", "off", "martlet dashboard does not answer: start it again.");
  }
};
const follow = () => look().finally(() => setTimeout(follow, interval));
follow();
