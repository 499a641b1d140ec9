"use strict";
const shownLimit = 40;
const place = id => document.getElementById(id);
const make = (tag, name, text) => {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined && text !== null) node.textContent = String(text);
  return node;
};
const ask = async path => {
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) throw new Error(path + " answered " + answer.status);
  return answer.json();
};
const devices = new Map();

const hue = text => {
  let sum = 7;
  for (const letter of text) sum = (sum * 31 + letter.codePointAt(0)) % 360;
  return sum;
};
const clock = time => new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

// A payload may be anything: whatever is not what it should be is shown as it came.
const words = note => {
  let payload;
  try { payload = JSON.parse(note.payload); } catch { return { body: note.payload }; }
  const aps = payload && typeof payload.aps === "object" && payload.aps || {};
  const alert = aps.alert;
  if (typeof alert === "string") return { body: alert };
  if (alert && typeof alert === "object") {
    const pick = (plain, key) => alert[plain] ?? alert[key];
    return { title: pick("title", "title-loc-key"), subtitle: pick("subtitle", "subtitle-loc-key"),
      body: pick("body", "loc-key") };
  }
  if (aps["content-available"]) return { body: "(background update)" };
  if (aps["content-state"]) return { body: JSON.stringify(aps["content-state"]) };
  if (aps.badge !== undefined) return { body: "badge " + aps.badge };
  return { body: note.payload };
};
const line = value => typeof value === "object" && value ? JSON.stringify(value) : value;

const bubble = note => {
  const waits = note.state.startsWith("stored");
  const box = make("article", waits ? "bubble ghost" : "bubble");
  box.dataset.state = note.state;
  const app = note.app.split(".").pop() || note.app;
  const icon = make("span", "icon", (app[0] || "?").toUpperCase());
  icon.style.background = "hsl(" + hue(note.app) + " 55% 45%)";
  const text = make("div");
  const from = make("div", "from");
  from.append(make("span", "", app), make("span", "", clock(note.accepted_at)));
  text.append(from);
  const said = words(note);
  if (said.title !== undefined) text.append(make("div", "title", line(said.title)));
  if (said.subtitle !== undefined) text.append(make("div", "subtitle", line(said.subtitle)));
  if (said.body !== undefined) text.append(make("div", "body", line(said.body)));
  const marks = [note.push_type, "priority " + note.priority];
  if (note.channel) marks.push("broadcast");
  if (waits) marks.push(note.state);
  text.append(make("div", "state", marks.join(" \u00b7 ")));
  box.append(icon, text);
  return box;
};

const shown = state => state === "sent" || state === "delivered" || state.startsWith("stored");
const draw = entry => {
  const { device, notes, node } = entry;
  node.className = device.is_online ? "device" : "device off";
  entry.name.textContent = device.name;
  entry.note.textContent = (device.is_online ? "online" : "offline")
    + (device.power === "low" ? " \u00b7 saves power" : "")
    + (device.waiting ? " \u00b7 " + device.waiting + " on the way" : "");
  entry.power.textContent = device.power === "low" ? "\u25d4 low" : "\u25cf";
  entry.tokens.replaceChildren(...device.tokens.map(token => {
    const row = make("div", token.is_active ? "token" : "token dead");
    const code = make("code", "", token.topic + " " + (token.token || "(dead)"));
    code.title = token.token || "";
    row.append(code);
    if (token.token) {
      const copy = make("button", "", "copy token");
      copy.addEventListener("click", () => navigator.clipboard.writeText(token.token));
      row.append(copy);
    }
    return row;
  }));
  const list = [...notes.values()].filter(note => shown(note.state));
  entry.list.replaceChildren(...list.slice(-shownLimit).reverse().map(bubble));
};

const entryOf = id => {
  let entry = devices.get(id);
  if (entry) return entry;
  const node = make("div", "device");
  node.dataset.device = id;
  const phone = make("div", "phone");
  const screen = make("div", "screen");
  const bar = make("div", "bar");
  const power = make("span");
  bar.append(make("span", "", ""), power);
  const time = make("div", "clock", clock(Date.now()));
  const list = make("div", "notes");
  screen.append(bar, time, list);
  phone.append(screen, make("div", "island"));
  const label = make("div", "label");
  const name = make("b");
  const note = make("span", "note");
  const tokens = make("div");
  label.append(name, note, tokens);
  node.append(phone, label);
  place("devices").append(node);
  entry = { device: { id, name: "", is_online: false, power: "normal", waiting: 0, tokens: [] },
    notes: new Map(), node, name, note, power, tokens, list, time };
  devices.set(id, entry);
  place("empty").hidden = true;
  return entry;
};

const takeDevice = device => {
  const entry = entryOf(device.id);
  entry.device = device;
  draw(entry);
};
const takeNote = note => {
  const entry = entryOf(note.device);
  // What was asked for earlier may arrive later than news.
  if ((entry.notes.get(note.unique_id) || note).time > note.time) return;
  // Notifications with the same collapse identifier are one on the device.
  if (note.collapse_id && shown(note.state)) {
    for (const [id, other] of entry.notes) {
      if (id !== note.unique_id && other.app === note.app && other.collapse_id === note.collapse_id) {
        entry.notes.delete(id);
      }
    }
  }
  entry.notes.set(note.unique_id, note);
  while (entry.notes.size > 4 * shownLimit) entry.notes.delete(entry.notes.keys().next().value);
  draw(entry);
};

const rows = (id, list) => place(id).replaceChildren(...list);
const overview = async () => {
  const all = await ask("overview");
  const known = all.devices || { activated: 0, online: 0, port: 0 };
  place("summary").textContent = all.environment + " environment \u00b7 " + known.online + " of "
    + known.activated + " devices online";
  place("requests").textContent = all.requests.toLocaleString();
  rows("answers", all.answers.map(answer => {
    const row = make("tr");
    const good = answer.status >= 200 && answer.status < 300;
    const kind = good ? "good" : answer.status === 410 ? "warn" : "bad";
    row.append(make("td", "status " + kind, answer.status || "\u2013"),
      make("td", "", answer.reason || (good ? "accepted" : "no answer")),
      make("td", "count", answer.count.toLocaleString()));
    return row;
  }));
  place("connections").textContent = all.connections.open;
  place("connections-note").textContent = "open now, " + all.connections.accepted + " since the start";
  place("limits").textContent = all.streams[0] === all.streams[1]
    ? all.streams[1] + " concurrent streams"
    : all.streams[0] + " stream until the first good push, then " + all.streams[1];
  place("trouble").textContent = all.storage_trouble ? "Cannot be kept: " + all.storage_trouble : "";
  place("trouble").hidden = !all.storage_trouble;
  place("hint").textContent = "martlet device --simulator localhost:" + known.port + " --app com.example.app";
  place("empty").hidden = devices.size > 0;
  for (const entry of devices.values()) entry.time.textContent = clock(Date.now());
};
const owner = trust => !trust ? "no good credential yet"
  : trust.kind === "token" ? "team " + trust.team_id + ", key " + trust.key_id
  : "certificate for " + trust.topics.join(", ");
const connections = async () => {
  const list = await ask("connections");
  rows("connection-list", list.slice(-50).reverse().map(connection => {
    const row = make("tr");
    row.dataset.connection = connection.number;
    const streams = connection.streams;
    const marks = [connection.role, streams.open + " of " + streams.allowed + " streams"];
    if (connection.round_trip_ms) marks.push(connection.round_trip_ms + " ms round trip");
    marks.push("since " + clock(connection.since));
    const answers = connection.answers.map(answer =>
      (answer.status || "no answer") + " \u00d7 " + answer.count.toLocaleString());
    const text = make("td");
    text.append(make("div", "", connection.client + " \u2192 " + connection.gateway));
    for (const note of [owner(connection.trust), marks.join(" \u00b7 "), answers.join(", ")]) {
      if (note) text.append(make("div", "note", note));
    }
    row.append(make("td", "status", "#" + connection.number), text,
      make("td", "count", connection.requests.toLocaleString()));
    return row;
  }));
};
const everything = async () => {
  const list = await ask("devices");
  for (const device of list) {
    takeDevice(device);
    for (const note of await ask("devices/" + device.id + "/notifications")) takeNote(note);
  }
};

const follow = () => {
  const source = new EventSource("events");
  const live = place("live");
  source.addEventListener("open", () => {
    live.textContent = "live";
    live.className = "chip on";
    // Whatever was missed while nobody listened.
    everything().catch(console.error);
  });
  source.addEventListener("error", () => {
    live.textContent = source.readyState === EventSource.CLOSED ? "no devices here" : "reconnecting";
    live.className = "chip";
  });
  source.addEventListener("device", event => takeDevice(JSON.parse(event.data)));
  source.addEventListener("notification", event => takeNote(JSON.parse(event.data)));
};
const poll = () => overview().then(connections).catch(console.error)
  .finally(() => setTimeout(poll, 1000));
poll();
follow();
