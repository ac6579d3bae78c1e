"use strict";
(() => {
// Draws a session at a moment out of its data. All figures and words are in the data; nothing of it is markup: elements are
// made one by one, and texts are set as texts.
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
let data, words, sizes, moments;

// -- the data: each leaf has its changes, and a text is a template with numbers

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;\"=>?@^_`{|}~";
async function inflated(id) {
  const text = $(id).textContent, bytes = new DataView(new ArrayBuffer(text.length / 5 * 4)), digits = new Uint8Array(128);
  [...LETTERS].forEach((letter, at) => { digits[letter.charCodeAt(0)] = at; });
  for (let at = 0, to = 0; at < text.length; to += 4) {
    let four = 0;
    for (let next = 0; next < 5; next += 1, at += 1) four = four * 85 + digits[text.charCodeAt(at)];
    bytes.setUint32(to, four);
  }
  const stream = new Blob([bytes.buffer.slice(4, 4 + bytes.getUint32(0))]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

const open = new Map();
function opened(column) {
  let found = open.get(column);
  if (found) return found;
  const [steps, changes] = column.map((number) => data.columns.lists[number]);
  found = { at: new Int32Array(steps.length), which: new Int32Array(steps.length) };
  for (let place = 0, moment = 0, value = 0; place < steps.length; place += 1) {
    found.at[place] = moment += steps[place];
    found.which[place] = value += changes[place];
  }
  open.set(column, found);
  return found;
}
function leaf(column, moment) {
  const one = opened(column);
  let low = 0, high = one.at.length;
  while (low < high) { const middle = (low + high) >> 1; if (one.at[middle] <= moment) low = middle + 1; else high = middle; }
  const number = low ? one.which[low - 1] : 0;
  return number ? data.columns.values[number] : undefined;
}
function tree(node, moment) {
  if (node === undefined) return undefined;
  if (Array.isArray(node)) return leaf(node, moment);
  if (Object.hasOwn(node, "*")) {
    const length = leaf(node["*"], moment);
    return length === undefined ? undefined : Array.from({ length }, (_, at) => tree(node[at], moment));
  }
  let found;
  for (const name of Object.keys(node)) {
    const child = tree(node[name], moment);
    if (child !== undefined) (found ??= Object.create(null))[name] = child;
  }
  return found;
}

// -- elements: what is wanted is compared with what is there, and only what differs is touched

function h(tag, attrs, ...kids) { return { tag, attrs: attrs ?? {}, kids: kids.flat(9).filter((kid) => kid !== null && kid !== undefined && kid !== false && kid !== "").map((kid) => (typeof kid === "object" ? kid : String(kid))) }; }
function make(want, inSvg) {
  if (typeof want === "string") return document.createTextNode(want);
  const svg = inSvg || want.tag === "svg";
  const node = svg ? document.createElementNS(SVG, want.tag) : document.createElement(want.tag);
  node.was = { tag: want.tag, attrs: {}, kids: [] };
  update(node, want, svg);
  return node;
}
function set(node, name, is) {
  if (name.startsWith("on")) node[name] = is;
  else if (name === "key") return;
  else if (is === false || is === null || is === undefined) node.removeAttribute(name);
  else node.setAttribute(name, is === true ? "" : is);
}
function update(node, want, svg = node.namespaceURI === SVG) {
  const was = node.was;
  for (const name of Object.keys(was.attrs)) if (!(name in want.attrs)) set(node, name, null);
  for (const [name, is] of Object.entries(want.attrs)) if (was.attrs[name] !== is) set(node, name, is);
  const keyed = new Map();
  for (const child of [...node.childNodes]) if (child.was?.attrs.key) keyed.set(child.was.attrs.key, child);
  want.kids.forEach((kid, at) => {
    let there = node.childNodes[at];
    const key = kid.attrs?.key;
    if (key && keyed.has(key) && there !== keyed.get(key)) { node.insertBefore(keyed.get(key), there ?? null); there = node.childNodes[at]; }
    const same = there && (typeof kid === "string" ? there.nodeType === 3 : there.was?.tag === kid.tag && there.was.attrs.key === key);
    if (!same) node.insertBefore(make(kid, svg && want.tag !== "foreignObject"), there ?? null);
    else if (typeof kid === "string") { if (there.data !== kid) there.data = kid; } else update(there, kid);
  });
  while (node.childNodes.length > want.kids.length) node.lastChild.remove();
  node.was = want;
}
function show(place, ...kids) {
  place.was ??= { tag: place.localName, attrs: {}, kids: [] };
  update(place, { tag: place.localName, attrs: {}, kids: h("", {}, ...kids).kids }, false);
}

const icon = (name, attrs) => h("svg", { class: "icon", "aria-hidden": "true", ...attrs }, h("use", { href: `#i-${name}` }));
const pill = (state) => (state?.length ? h("span", { class: `pill c-${state[0]}` }, icon(state[1]), state[2]) : null);
const word = (state) => (state?.length ? h("span", { class: `word c-${state[0]}` }, icon(state[1]), state[2]) : null);
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

// -- where we are

const place = { ms: 0, moment: -1, selected: "", tab: "figures", own: false, playing: 0, event: -1, tops: {} };
let now = {}; // the tree of the moment, without the facts, which are asked for by what is selected
const momentAt = (ms) => { let low = 0, high = moments.length; while (low < high) { const middle = (low + high) >> 1; if (moments[middle] <= ms + 1e-6) low = middle + 1; else high = middle; } return Math.max(0, low - 1); };
const clockOf = (ms, digits = 3) => {
  const whole = Math.floor(ms + 1e-6), hours = Math.floor(whole / 3600000), minutes = Math.floor(whole / 60000) % 60, seconds = Math.floor(whole / 1000) % 60;
  const two = (number) => String(number).padStart(2, "0");
  return `${hours ? `${hours}:` : ""}${two(minutes)}:${two(seconds)}${digits ? `.${String(whole % 1000).padStart(3, "0")}` : ""}`;
};
const factsOf = (id) => tree(data.columns.root.facts?.[id], place.moment);
const isKnown = (id) => Object.hasOwn(data.columns.root.facts ?? {}, id);
const nameOf = (id) => leafOf(data.columns.root.facts?.[id]?.name);
const leafOf = (column) => { if (!column) return ""; for (let at = place.moment; at >= 0; at -= 1) { const found = leaf(column, at); if (found !== undefined) return found; } return leaf(column, moments.length - 1) ?? ""; };

const withAt = (ms) => { const at = momentAt(ms); return moments[at] >= ms - 1e-3 ? moments[at] : moments[at + 1] ?? data.to_ms; }; // the first moment that has what happened then
function go(ms, { told = true, event = -1 } = {}) {
  place.event = event;
  place.ms = Math.min(data.to_ms, Math.max(data.from_ms, ms));
  const moment = momentAt(place.ms);
  if (moment !== place.moment) {
    place.moment = moment;
    const { facts, ...rest } = data.columns.root;
    now = tree(rest, moment) ?? {};
    drawCanvas();
    drawPanel();
  } else if (place.tab !== "charts") drawPanel(false);
  drawHead();
  drawClock();
  moveCursors();
  if (told) remember();
}
function select(id) {
  const top = id === place.selected ? undefined : 0;
  place.selected = id;
  if (!id) place.own = false;
  drawCanvas();
  if (place.tab !== "events") setTab("figures", top); else drawPanel();
  remember();
}

// -- the canvas

const pen = document.createElement("canvas").getContext("2d");
// As on the window's canvas, letters are larger from afar: [weight, near, far], as in the style sheet.
const FACES = { "t-title": [600, 14, 18], "t-name": [600, 13, 16], "t-body": [500, 12, 15], "t-figure": [600, 17, 21], "t-letter": [700, 11, 13], "": [400, 11, 14] };
const FAR = 0.92;
let far = false;
const widths = new Map();
function widthOf(text, face) {
  const key = `${far}|${face}|${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size > 20000) widths.clear();
    const [weight, ...sizes_] = FACES[face];
    pen.font = `${weight} ${sizes_[Number(far)]}px ${family}`;
    widths.set(key, width = pen.measureText(text).width);
  }
  return width;
}
let family = "system-ui, sans-serif";
function cut(text, face, room) {
  if (widthOf(text, face) <= room) return text;
  let low = 0, high = text.length;
  while (low < high) { const middle = (low + high + 1) >> 1; if (widthOf(`${text.slice(0, middle)}…`, face) <= room) low = middle; else high = middle - 1; }
  return low ? `${text.slice(0, low)}…` : "";
}
// Text of a class, at its base line, in so much room; it ends at x where `end` says so.
function text(x, y, said, face = "", more = "", room = 1e9, end = false) {
  const shown = cut(String(said), face, room);
  return shown && h("text", { x, y, class: `${face} ${more}`.trim(), "text-anchor": end ? "end" : false }, shown);
}
const sign = (name, x, y, size, more = "") => h("svg", { class: `icon ${more}`, x, y, width: size, height: size, viewBox: "0 0 24 24", "aria-hidden": "true" }, h("use", { href: `#i-${name}` }));
function badge(x, y, w, hgt, hue, letter) {
  return [h("rect", { class: `hue h${hue}`, x, y, width: w, height: hgt, rx: 4 }), h("text", { class: `t-letter k${hue}`, x: x + w / 2, y: y + hgt / 2 + 4, "text-anchor": "middle" }, letter)];
}
function ground(x, y, state) {
  const width = widthOf(state[2], "") + 33;
  return [width, h("g", { class: `c-${state[0]}` }, h("rect", { class: "ground", x, y, width, height: 20, rx: 10 }), sign(state[1], x + 6, y + 3, 14, "sign"), h("text", { class: "state", x: x + 23, y: y + 14 }, state[2]))];
}

const KIND_ICONS = { node: "layers", producer: "producer", topic: "topic", group: "group", bench: "bench", queue: "queue", workers: "worker", dlq: "dead-letter", rest: "layers" };
const painters = {
  card(box, w, hgt) {
    const state = box.state, isReader = box.badge !== undefined, left = !isReader ? [sign(KIND_ICONS[box.kind], 12, 13, 20, "sign")] : badge(10, 11, 24, 24, box.hue, box.badge);
    if (box.small) {
      const mark = !isReader ? [sign(KIND_ICONS[box.kind], 7, (hgt - 16) / 2, 16, "sign")] : badge(6, (hgt - 18) / 2, 18, 18, box.hue, box.badge);
      const room = w - 30 - 24, used = widthOf(state[2], "") + 20, whole = widthOf(box.name, "") + used < room;
      return [mark, text(30, hgt / 2 + 4, box.name, "", "", whole ? room - used : room), sign(state[1], w - 21, hgt / 2 - 7, 14, "sign"), whole && text(w - 26, hgt / 2 + 4, state[2], "", "state", used, true)];
    }
    const rate = isReader ? box.rate : "", room = w - 44 - 12;
    const stateWidth = widthOf(state[2], "") + 22;
    return [
      left, text(44, 19, box.name, "t-name", "", room - (rate ? widthOf(rate, "") + 8 : 0)), rate && text(w - 12, 19, rate, "", "muted", 60, true),
      sign(state[1], 44, 26, 14, "sign"), text(62, 37, state[2], "", "state", room - 18),
      widthOf(box.note, "") <= room - stateWidth - 6 && text(w - 12, 37, box.note, "", "muted", room, true),
    ];
  },
  place(box, w) { // the header of a topic or queue
    let right = w - 14;
    const title = widthOf(box.name, "t-title"), rate = widthOf(box.note, "") + 12, parts = [sign(KIND_ICONS[box.kind], 12, 9, 18, "muted-sign")];
    if (title + rate < right - 38) { parts.push(text(right, 23, box.note, "", "muted", 90, true)); right -= rate; }
    if (box.state.length) { const [width, drawn] = ground(0, 8, box.state); right -= width; parts.push(h("g", { transform: `translate(${right} 0)` }, drawn)); right -= 8; }
    parts.push(text(38, 23, box.name, "t-title", "", right - 38));
    return parts;
  },
  topic(box, w) {
    const chips = Math.max(1, box.groups.length), chipsX = w - 12 - chips * sizes.chip_pitch + (sizes.chip_pitch - sizes.chip), endX = chipsX - 8, trackW = endX - sizes.end_w - sizes.track_x;
    const parts = [painters.place(box, w)];
    if (box.schema) parts.push(h("title", {}, box.schema));
    parts.push(text(box.heat.length ? sizes.label_x : sizes.track_x, 43, box.read, "", "muted", box.heat.length ? w - 28 : trackW));
    if (!box.heat.length) {
      if (box.lanes.length) parts.push(text(endX, 43, words.end, "", "muted", 40, true));
      box.titles.forEach((title, at) => parts.push(h("text", { class: "muted", x: chipsX + at * sizes.chip_pitch + sizes.chip / 2, y: 43, "text-anchor": "middle" }, h("title", {}, box.groups[at]), [title, title.slice(0, 2)].find((part) => widthOf(part, "") <= 24) ?? title.slice(0, 1))));
    }
    box.lanes.forEach((lane, row) => {
      const y = sizes.header + row * sizes.lane, base = y + sizes.lane / 2 + 4, top = y + (sizes.lane - sizes.track_h) / 2, strip = (sizes.track_h - (lane.groups.length - 1)) / Math.max(1, lane.groups.length);
      const drawn = [h("rect", { class: "row", x: 4, y, width: w - 8, height: sizes.lane, rx: 4 }), lane.mark.length > 0 && h("g", { class: `c-${lane.mark[0]}` }, h("title", {}, `${lane.mark[2]}: ${lane.placed}`), sign(lane.mark[1], sizes.label_x - 11, y + (sizes.lane - 12) / 2, 12, "sign")), text(sizes.label_x + (lane.mark.length ? 3 : 0), base, lane.name, "t-body", "muted", sizes.track_x - sizes.label_x - 2), h("rect", { class: "track", x: sizes.track_x, y: top, width: trackW, height: sizes.track_h })];
      lane.groups.forEach((group, at) => {
        const sy = top + at * (strip + 1), x = (part) => sizes.track_x + part / 1000 * trackW, free = !group.badge || group.revoked;
        if (!group.known) drawn.push(h("rect", { class: "unknown", x: x(group.start), y: sy, width: x(1000) - x(group.start), height: strip }));
        else {
          const tick = Math.max(group.tick, 0);
          drawn.push(h("rect", { class: `read ${free ? "free" : `hue h${group.hue}`}`, x: x(group.start), y: sy, width: Math.max(0, x(tick) - x(group.start)), height: strip }));
          drawn.push(h("rect", { class: `gap ${group.revoked ? "gone" : ""}`, x: x(tick), y: sy, width: x(1000) - x(tick), height: strip }));
          if (group.revoked) drawn.push(h("rect", { class: "revoked", x: x(group.start), y: sy, width: x(1000) - x(group.start), height: strip }));
          drawn.push(h("rect", { class: "tick", x: Math.min(x(tick), x(1000) - 2), y: sy, width: 2, height: strip }));
        }
        const cx = chipsX + at * sizes.chip_pitch, cy = y + (sizes.lane - sizes.chip_h) / 2;
        if (!group.badge || group.revoked) drawn.push(h("rect", { class: group.revoked ? "chip-revoked" : "chip-none", x: cx + 0.5, y: cy + 0.5, width: sizes.chip - 1, height: sizes.chip_h - 1, rx: 4 }), group.revoked && group.badge && h("text", { class: "t-letter muted", x: cx + sizes.chip / 2, y: cy + sizes.chip_h / 2 + 4, "text-anchor": "middle" }, group.badge));
        else drawn.push(badge(cx, cy, sizes.chip, sizes.chip_h, group.hue, group.badge));
      });
      drawn.push(h("rect", { class: "end", x: sizes.track_x + trackW, y: top - 2, width: 2, height: sizes.track_h + 4 }), text(endX, base, lane.end, "", "", sizes.end_w - 8, true));
      parts.push(h("g", { class: `lane ${place.selected === lane.id ? "selected" : ""}`, "data-id": lane.id, tabindex: "-1", role: "button", "aria-label": [`${box.name} ${lane.name}`, ...lane.mark.slice(2), `${words.end} ${lane.end}`, ...lane.groups.map((group, at) => `${box.groups[at]} ${group.badge} ${group.lag}`)].join(", ") }, drawn));
    });
    const rows = box.heat.length ? Math.ceil(box.heat[0].cells.length / box.heat[0].columns) : 0;
    box.heat.forEach((group, at) => {
      const top = sizes.header + at * (sizes.heat_label + rows * sizes.cell);
      parts.push(text(sizes.label_x, top + 12, group.name, "", "", 180), text(w - 14, top + 12, group.worst, "", "muted", 150, true));
      group.cells.forEach((cell, place_) => {
        const x = sizes.label_x + (place_ % group.columns) * sizes.cell, y = top + sizes.heat_label + Math.floor(place_ / group.columns) * sizes.cell, size = sizes.cell - 2;
        parts.push(h("g", { "data-id": cell.id, tabindex: "-1" }, h("rect", { class: "track", x, y, width: size, height: size }), h("rect", { class: "cell", "fill-opacity": cell.share / 100, x, y, width: size, height: size }), !cell.read && h("rect", { class: "cell unread", x, y, width: size, height: size })));
      });
    });
    return parts;
  },
  group(box, w) {
    const right = w - sizes.pad, room = right - sizes.pad - 24, parts = [sign("group", sizes.pad, 8, 18, "muted-sign")];
    const [used, drawn] = ground(sizes.pad, 32, box.state);
    const trend = box.trend.length && box.trend[0] !== "idle" ? box.trend : null;
    // Where the lag has no room beside the state, it is said shorter, or stands beside the name, in place of the note.
    const beneath = right - sizes.pad - used - 8 - (trend ? 16 : 0), said = box.lags.find((lag) => widthOf(lag, "") <= beneath) ?? box.lags.at(-1);
    const lag = widthOf(said, "") + (trend ? 16 : 0), below = widthOf(said, "") <= beneath, y = below ? 46 : 23;
    const beside = below ? widthOf(box.note, "") : lag, fits = !below || beside + 12 + widthOf(box.name, "t-title") <= room;
    parts.push(text(sizes.pad + 24, 23, box.name, "t-title", "", fits ? room - beside - 8 : room), below && fits && text(right, 23, box.note, "", "muted", 200, true), drawn);
    parts.push(trend && h("g", { class: `c-${trend[0]}` }, sign(trend[1], right - 14, y - 11, 14, "sign")), h("g", { class: trend ? `c-${trend[0]}` : "" }, text(right - (trend ? 16 : 0), y, said, "", trend ? "state" : "muted", below ? beneath : 200, true)));
    if (box.empty) parts.push(text(sizes.pad, 79, box.empty, "", "muted", w - 2 * sizes.pad));
    return parts;
  },
  holder(box, w) {
    const right = w - sizes.pad, name = widthOf(box.name, "t-title");
    return [sign(KIND_ICONS[box.kind], sizes.pad, 8, 18, "muted-sign"), text(sizes.pad + 24, 23, box.name, "t-title"), text(right, 23, box.note, "", "muted", right - sizes.pad - 32 - name, true)];
  },
  queue(box, w) {
    const parts = [painters.place(box, w)];
    box.figures.forEach((figure, at) => parts.push(text(sizes.label_x + at * sizes.figure_pitch, sizes.figure_name_y, figure.name, "", "muted", sizes.figure_w), text(sizes.label_x + at * sizes.figure_pitch, sizes.figure_y, figure.count, "t-figure", "", sizes.figure_w)));
    const radius = (sizes.ring - 3) / 2, round = 2 * Math.PI * radius;
    box.rings.forEach((ring, at) => {
      const cx = sizes.label_x + at * sizes.ring_pitch + sizes.ring / 2, cy = sizes.rings_y + sizes.ring / 2;
      parts.push(h("circle", { class: "ring", cx, cy, r: radius }), h("circle", { class: `h${ring.hue} arc ${ring.expiring ? "expiring" : ""}`, cx, cy, r: radius, "stroke-dasharray": `${ring.left / 100 * round} ${round}`, transform: `rotate(-90 ${cx} ${cy})` }), ring.attempt && h("text", { x: cx, y: cy + 4, "text-anchor": "middle" }, ring.attempt));
    });
    const x = sizes.label_x + box.rings.length * sizes.ring_pitch, right = w - sizes.label_x;
    parts.push(text(x, sizes.rings_base_y, box.rest, "", "muted", w - x - 4));
    if (box.reads && x + widthOf(box.rest, "") + sizes.source_gap + widthOf(box.reads, "") <= right) parts.push(text(right, sizes.rings_base_y, box.reads, "", "muted", w, true));
    return parts;
  },
  dlq(box, w, hgt) { return [sign("dead-letter", 12, (hgt - 18) / 2, 18), text(38, hgt / 2 + 4.5, box.name, "t-body", box.any ? "" : "muted", w - 60 - widthOf(box.note, "t-name")), text(w - 14, hgt / 2 + 4.5, box.note, "t-name", box.any ? "" : "muted", 100, true)]; },
  rest(box, w, hgt) { return [text(14, hgt / 2 + 4, box.name, "t-body", "muted", w - 28)]; },
};
const PAINT = { node: "card", producer: "card", consumer: "card", worker: "card", bench: "holder", workers: "holder" };
const target = (id) => (id.startsWith("dlq:") ? `queue:${id.slice(4)}` : id.startsWith("workers:") ? `queue:${id.slice(8)}` : id);

function drawBox(id, box) {
  const [x, y, w, hgt] = box.at, state = box.state?.length ? box.state : null;
  const classes = ["box", box.kind, ["group", "bench", "workers"].includes(box.kind) ? "holder" : "", state ? `c-${state[0]} ${["failure", "rebalancing"].includes(state[0]) ? "trouble" : ""}` : "", box.any ? "any" : "", place.selected === id || (place.selected && target(id) === place.selected && box.kind === "queue") ? "selected" : ""];
  const label = [box.name, state?.[2], box.lags?.[0], box.note, ...(box.figures ?? []).map((figure) => `${figure.name} ${figure.count}`)].filter(Boolean).join(", ");
  return h("g", { key: id, class: classes.filter(Boolean).join(" "), transform: `translate(${x} ${y})`, "data-id": target(id), tabindex: box.kind === "rest" ? false : "0", role: "button", "aria-label": label, "aria-pressed": String(place.selected === target(id)) },
    h("rect", { class: "frame", x: 0.5, y: 0.5, width: w - 1, height: hgt - 1, rx: 8 }),
    painters[PAINT[box.kind] ?? box.kind](box, w, hgt),
    box.more && text(w - sizes.pad, hgt - sizes.pad - 4, box.more, "", "muted", 130, true));
}
function drawLink(name, link) {
  const found = link.path.match(/-?[\d.]+/g).map(Number), [x2, y2, x, y] = found.slice(-4), angle = Math.atan2(y - y2, x - x2) * 180 / Math.PI, size = 7 + link.width * 0.4;
  return h("g", { key: `link ${name}` }, h("title", {}, [link.rate, link.why].filter(Boolean).join("\n")), h("path", { class: `flow ${link.look}`, d: link.path, "stroke-width": link.width }), h("path", { class: `tip ${link.look}`, d: `M0 0L${-size} ${-size / 2}V${size / 2}Z`, transform: `translate(${x} ${y}) rotate(${angle})` }));
}
function drawWord(name, link) {
  const [width, drawn] = ground(0, 0, link.state);
  return h("g", { key: `word ${name}`, transform: `translate(${link.word[0] - width / 2} ${link.word[1] - 10})` }, drawn);
}
const hatch = (id, more) => h("pattern", { id, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, h("path", { class: `hatch ${more}`, d: "M2 0V5" }));
function drawCanvas() {
  const scene = now.scene ?? {}, boxes = scene.boxes ?? {}, links = Object.entries(scene.links ?? {}), [x, y, w, hgt] = scene.bounds ?? [0, 0, 1, 1];
  if (scene.notice) { show($("canvas"), h("p", { class: "muted" }, scene.notice)); return; }
  const order = scene.order ?? {}, room = $("canvas").parentNode, narrow = innerWidth <= 860;
  const wide = (room.clientWidth - 20) / w, high = (room.clientHeight - 20) / hgt;
  const scale = matchMedia("print").matches ? 1 : narrow ? Math.min(1, Math.max(0.82, wide)) : Math.max(0.6, Math.min(1.5, wide, high));
  room.classList.toggle("scrolls", Math.floor(w * scale) > room.clientWidth - 20);
  far = scale < FAR;
  const names = Object.keys(boxes).sort((one, other) => (order[one] ?? 1e9) - (order[other] ?? 1e9));
  show($("canvas"), h("svg", { width: Math.floor(w * scale), height: Math.floor(hgt * scale), viewBox: `${x} ${y} ${w} ${hgt}`, class: far ? "far" : "", role: "group", "aria-label": words.canvas },
    h("defs", {}, hatch("hatch", ""), hatch("hatch-surface", "surface"), hatch("hatch-amber", "amber")),
    links.map(([name, link]) => drawLink(name, link)), names.map((id) => drawBox(id, boxes[id])), links.filter(([, link]) => link.state.length && link.word.length).map(([name, link]) => drawWord(name, link))));
}

// -- the panel beside

const row = (label, said, link) => [h("dt", {}, label), h("dd", { class: "isolate" }, link && (link.startsWith("at:") || isKnown(link)) ? h("button", { type: "button", class: "link", "data-link": link }, said) : said)];
function rows(list) {
  const first = list.findIndex((one) => one.label), plain = first < 0 ? list : list.slice(0, first), named = first < 0 ? [] : list.slice(first); // one without a label goes on with the one before
  return [plain.map((one) => h("p", { class: "isolate" }, one.link && isKnown(one.link) ? h("button", { type: "button", class: "link", "data-link": one.link }, one.value) : one.value)), named.length ? h("dl", { class: "rows" }, named.map((one) => row(one.label, one.value, one.link))) : null];
}
function eventRow(event, current) {
  return h("li", { key: `${event.ms} ${event.at}` }, h("button", { type: "button", class: `event ${event.ms > place.ms + 1e-6 ? "later" : ""}`, "data-event": event.at, "aria-current": current ? "true" : false }, h("time", {}, clockOf(event.ms)), h("span", { class: "where" }, word(event.state), " ", h("bdi", {}, [event.place, event.who].filter(Boolean).join(" "))), event.about ? h("span", { class: "about isolate" }, event.about) : null));
}
let byThing;
function eventsOf(id) {
  if (!id) return data.events;
  if (!byThing) { byThing = new Map(); data.events.forEach((event) => event.ids.forEach((one) => { if (!byThing.has(one)) byThing.set(one, []); byThing.get(one).push(event); })); }
  return byThing.get(id) ?? [];
}
const lastOf = (list, ms) => { let low = 0, high = list.length; while (low < high) { const middle = (low + high) >> 1; if (list[middle].ms <= ms + 1e-6) low = middle + 1; else high = middle; } return low - 1; };
const here = (list) => (place.event < 0 ? lastOf(list, place.ms) : list.findLastIndex((one) => one.at <= place.event)); // where we are in it
function around(list) {
  const at = here(list), from = Math.max(0, at - 2), part = list.slice(from, from + 8);
  return part.length ? h("ol", { class: "events" }, part.map((event, place_) => eventRow(event, from + place_ === at))) : h("p", { class: "muted" }, words.no_events);
}
function cardOf(key, card) {
  const party = (one) => (one.name ? h("span", {}, h("span", { class: `badge h${one.hue}` }, one.badge), h("bdi", {}, one.name)) : h("span", { class: "muted" }, words.nobody));
  return h("article", { key, class: `card ${card.state[0] === "rebalancing" ? "running" : ""}` },
    h("div", { class: "head" }, h("div", {}, h("h2", {}, h("bdi", {}, card.group)), h("p", { class: "kind" }, h("button", { type: "button", class: "link", "data-at": card.started_ms }, card.started), ` · ${card.generation}`)), pill(card.state)),
    h("p", { class: "isolate" }, card.cause), h("p", { class: "muted isolate", title: card.gaps }, card.no_reader),
    h("details", { open: card.moved_count > 0 && card.moved_count <= 6 }, h("summary", {}, card.figures),
      h("table", { class: "moves" }, h("tbody", {}, card.moved.map((move) => h("tr", {}, h("td", {}, h("bdi", {}, move.place)), h("td", {}, party(move.old)), h("td", {}, "→"), h("td", {}, party(move.new)))))),
      card.moved_count > card.moved.length && h("p", { class: "muted" }, fill(words.and_more, { count: card.moved_count - card.moved.length }))));
}
const cards = () => Object.entries(now.cards ?? {}).sort(([, one], [, other]) => other.started_ms - one.started_ms);
const panels = {
  figures() {
    const id = place.selected;
    if (!id) return [data.about && h("p", {}, h("bdi", {}, data.about)), h("p", { class: "muted" }, words.select), h("p", {}, h("b", {}, [now.rate, now.in_flight].filter(Boolean).join(", "))), now.rates && h("p", { class: "muted" }, now.rates), now.wall && h("p", { class: "muted" }, now.wall), h("section", {}, h("h3", {}, words.around), around(data.events))];
    const facts = factsOf(id), group = id.startsWith("group:") ? id.slice(6) : null;
    const clear = h("button", { type: "button", class: "quiet", "data-clear": "1", "aria-label": words.clear, title: words.clear }, icon("close"));
    if (!facts) return [h("div", { class: "head" }, h("div", {}, h("h2", {}, h("bdi", {}, nameOf(id)))), clear), h("p", { class: "muted" }, words.not_here), h("section", {}, h("h3", {}, words.around), around(eventsOf(id)))];
    return [
      h("div", { class: "head" }, h("div", {}, h("p", { class: "kind" }, facts.kind), h("h2", {}, h("bdi", {}, facts.name))), pill(facts.state), clear),
      facts.note && h("p", { class: "muted" }, facts.note), facts.second && h("section", {}, h("h3", {}, words.in_second), h("p", {}, facts.second)),
      facts.sections.map((section) => h("section", {}, section.title && h("h3", {}, section.title), rows(section.rows))),
      group !== null && cards().filter(([, card]) => card.group === group).length ? h("section", {}, h("h3", {}, words.rebalances), cards().filter(([, card]) => card.group === group).map(([key, card]) => cardOf(key, card))) : null,
      h("section", {}, h("h3", {}, words.around), around(eventsOf(id))),
    ];
  },
  events() {
    const own = place.own && place.selected, list = eventsOf(own ? place.selected : ""), at = here(list);
    return [
      place.selected ? h("div", { class: "filter" }, h("button", { type: "button", "data-own": "", "aria-pressed": String(!own) }, words.all_events), h("button", { type: "button", "data-own": "1", "aria-pressed": String(Boolean(own)) }, fill(words.its_events, { name: nameOf(place.selected) }))) : null,
      list.length ? h("ol", { class: "events" }, list.map((event, place_) => eventRow(event, place_ === at))) : h("p", { class: "muted" }, words.no_events),
    ];
  },
  rebalances() { const found = cards(); return found.length ? found.map(([key, card]) => cardOf(key, card)) : h("p", { class: "muted" }, words.no_rebalance); },
  charts() { return data.charts.length ? data.charts.map((chart, at) => h("section", { class: "chart" }, h("h3", { title: chart.about }, chart.title, " ", h("span", { class: "muted" }, chart.unit)), h("div", { class: "plot", "data-plot": at }))) : h("p", { class: "muted" }, words.no_chart); },
};
let shownEvent = null, shownList = "";
function drawPanel(fresh = true) {
  if (place.tab === "charts") return;
  if (!fresh && (place.tab === "rebalances" || here(data.events) === shownEvent)) return;
  shownEvent = here(data.events);
  const list = place.tab === "events" ? `${shownEvent} ${place.own} ${place.selected}` : "";
  if (list && list === shownList) return;
  shownList = list;
  show($("panel"), panels[place.tab]());
  if (place.tab === "events" && !$("panel").matches(":hover, :focus-within")) reveal();
}
function reveal() { // the event where we are, in a list longer than the panel
  const panel = $("panel"), row_ = panel.querySelector("[aria-current]")?.getBoundingClientRect(), box = panel.getBoundingClientRect();
  if (row_ && (row_.top < box.top || row_.bottom > box.bottom)) panel.scrollTop += row_.top - box.top - panel.clientHeight / 3;
}
function setTab(tab, top = place.tops[tab] ?? 0) {
  place.tops[place.tab] = $("panel").scrollTop;
  place.tab = tab;
  document.querySelectorAll("[data-tab]").forEach((one) => { const is = one.dataset.tab === tab; one.setAttribute("aria-selected", String(is)); one.tabIndex = is ? 0 : -1; });
  $("panel").setAttribute("aria-labelledby", `tab-${tab}`);
  document.querySelector("main").classList.toggle("wide", tab === "charts");
  dropCharts();
  shownList = "";
  show($("panel"));
  if (tab === "charts") { show($("panel"), panels.charts()); drawCharts(); } else drawPanel();
  $("panel").scrollTop = top;
  if (tab === "events") reveal();
  drawCanvas();
  drawTimeline();
}

// -- charts, by ECharts, which is unpacked when it is asked for

let plots = [], library;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const plain = (said) => String(said).replace(/[{}|]/g, " ");
async function drawCharts() {
  library ??= inflated("echarts").then((source) => { const script = document.createElement("script"); script.textContent = source; document.head.append(script); });
  await library;
  if (place.tab !== "charts") return;
  dropCharts();
  const axis = { axisLine: { lineStyle: { color: colour("border-strong") } }, axisLabel: { color: colour("muted"), fontSize: 11, fontFamily: family }, splitLine: { lineStyle: { color: colour("grid") } } };
  plots = data.charts.map((chart, at) => {
    const box = $("panel").querySelector(`[data-plot="${at}"]`), plot = echarts.init(box, null, { renderer: "canvas" });
    plot.setOption({
      animation: false, textStyle: { fontFamily: family }, grid: { left: 6, right: 18, top: chart.curves.length > 1 ? 30 : 10, bottom: 4, containLabel: true },
      legend: chart.curves.length > 1 ? { type: "scroll", top: 0, left: 0, icon: "roundRect", itemWidth: 12, itemHeight: 3, textStyle: { color: colour("muted"), fontSize: 11 }, pageTextStyle: { color: colour("muted") } } : undefined,
      tooltip: { trigger: "axis", renderMode: "richText", confine: true, backgroundColor: colour("surface"), borderColor: colour("border"), textStyle: { color: colour("text"), fontSize: 11.5 }, formatter: (points) => [`${clockOf(points[0].value[0] * 1000, 1)}, ${chart.unit}`, ...points.filter((point) => point.value[1] !== null).map((point) => `${plain(point.seriesName)}: ${point.value[1].toLocaleString("en", { maximumFractionDigits: 1 })}`)].join("\n") },
      xAxis: { type: "value", min: data.from_ms / 1000, max: Math.max(data.to_ms, data.from_ms + 1) / 1000, interval: stepMs(box.clientWidth - 60) / 1000, ...axis, splitLine: { show: false }, axisLabel: { ...axis.axisLabel, hideOverlap: true, showMaxLabel: false, formatter: (seconds) => clockOf(seconds * 1000, 0) } },
      yAxis: { type: chart.logarithmic ? "log" : "value", ...(chart.logarithmic ? decades(chart) : { min: 0, splitNumber: 3 }), ...axis },
      series: chart.curves.map((curve) => ({ name: curve.name, type: "line", data: chart.times_s.map((x, place_) => [x, chart.logarithmic && !(curve.values[place_] > 0) ? null : curve.values[place_]]), showSymbol: false, color: colour(`h${curve.hue}`), lineStyle: { width: 1.6 }, connectNulls: false })),
    });
    plot.getZr().on("click", (event) => { if (plot.containPixel({ gridIndex: 0 }, [event.offsetX, event.offsetY])) go(plot.convertFromPixel({ xAxisIndex: 0 }, event.offsetX) * 1000); });
    const cursor = document.createElement("i");
    cursor.className = "cursor";
    box.append(cursor);
    return { plot, cursor };
  });
  moveCursors();
}
function decades(chart) {
  const logs = chart.curves.flatMap((curve) => curve.values).filter((one) => one > 0).map(Math.log10);
  return logs.length ? { min: 10 ** Math.floor(Math.min(...logs)), max: 10 ** Math.ceil(Math.max(...logs)) } : {};
}
function dropCharts() { plots.forEach(({ plot, cursor }) => { cursor.remove(); plot.dispose(); }); plots = []; }
function moveCursors() {
  plots.forEach(({ plot, cursor }) => {
    const grid = plot.getModel().getComponent("grid", 0).coordinateSystem.getRect();
    Object.assign(cursor.style, { left: `${plot.convertToPixel({ xAxisIndex: 0 }, place.ms / 1000)}px`, top: `${grid.y}px`, height: `${grid.height}px` });
  });
}

// -- the timeline

const strip = { left: 104, right: 14, top: 4, area: 34, level: 28, lane: 15, axis: 17, width: 0 };
const spanMs = () => Math.max(1, data.to_ms - data.from_ms);
const stripWidth = () => Math.max(50, strip.width - strip.left - strip.right); // asking the element would lay the page out in each frame
const xOf = (ms) => strip.left + (ms - data.from_ms) / spanMs() * stripWidth();
const msOf = (x) => data.from_ms + (x - strip.left) / stripWidth() * spanMs();
const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400];
const stepMs = (width) => (STEPS_S.find((one) => one * 1000 / spanMs() * width > 62) ?? 28800) * 1000; // between two marks of an axis
function drawTimeline() {
  strip.left = innerWidth <= 860 ? 12 : 104;
  far = false;
  const line = data.timeline, width = strip.width = $("timeline").clientWidth, top = strip.top, base = top + strip.area, peak = Math.max(1, line.peak_per_s), labels = strip.left > 50;
  const levels = line.strips.map((one, at) => ({ ...one, base: base + 4 + (at + 1) * strip.level })), under = base + 4 + levels.length * (strip.level + 1);
  const lanes = line.lanes.map(([lane, title], at) => ({ lane, title, y: under + at * strip.lane })), height = under + lanes.length * strip.lane + strip.axis, right = strip.left + stripWidth();
  const area = (samples, foot, most, tall, name) => samples.length > 1 && h("path", { class: `area ${name}`, d: `M${xOf(samples[0][0])} ${foot}L${samples.map(([ms, value]) => `${xOf(ms).toFixed(1)} ${(foot - Math.min(1, value / most) * tall).toFixed(1)}`).join("L")}L${xOf(samples.at(-1)[0])} ${foot}Z` });
  const step = stepMs(stripWidth());
  const ticks = [];
  for (let ms = Math.ceil(data.from_ms / step) * step; ms <= data.to_ms; ms += step) ticks.push(ms);
  const yOf = (lane) => lanes.find((one) => one.lane === lane)?.y ?? base;
  show($("timeline"), h("svg", { width, height, "aria-hidden": "true" },
    ticks.map((ms) => h("line", { class: "grid", x1: xOf(ms), x2: xOf(ms), y1: top, y2: height - strip.axis })),
    labels && [text(8, top + 12, words.published, "", "muted", 92), text(8, top + 26, line.peak, "", "muted", 92)],
    area(line.samples, base, peak, strip.area, ""),
    levels.map((one) => [labels && [text(8, one.base - 14, one.title, "", "muted", 92), text(8, one.base - 2, one.peak, "", "muted", 92)], area(one.samples, one.base, one.most, strip.level - 4, one.key)]),
    [base, ...levels.map((one) => one.base)].map((y) => h("line", { class: "base", x1: strip.left, x2: right, y1: y + 0.5, y2: y + 0.5 })),
    lanes.map((one) => [labels && text(8, one.y + 11, one.title, "", "muted", 92), h("rect", { class: "rail", x: strip.left, y: one.y + 2, width: stripWidth(), height: strip.lane - 4, rx: 2 })]),
    line.bands.map((band) => h("rect", { class: `band l-${band.lane.split(" ")[0]}`, x: xOf(band.from_ms), y: yOf(band.lane) + 2, width: Math.max(2, xOf(band.to_ms) - xOf(band.from_ms)), height: strip.lane - 4, rx: 1.5 })),
    line.ticks.map((tick) => h("rect", { class: `mark m-${tick.kind.split(" ")[0]}`, x: xOf(tick.ms) - 1.5, y: yOf(tick.lane) + 1, width: 3, height: strip.lane - 2, rx: 1 })),
    ticks.map((ms) => h("text", { class: "muted", x: Math.max(18, Math.min(xOf(ms), right - 14)), y: height - 4, "text-anchor": "middle" }, clockOf(ms, 0))),
    h("g", { key: "head", class: "head" }, h("line", { class: "head-line", y1: 0, y2: height - strip.axis }), h("path", { class: "head-grip", d: "M-5 0H5V6L0 11L-5 6Z" }))));
  drawHead();
}
function drawHead() {
  $("timeline").querySelector(".head")?.setAttribute("transform", `translate(${xOf(place.ms)} 0)`);
  const slider = $("timeline");
  Object.entries({ "aria-valuemin": data.from_ms / 1000, "aria-valuemax": data.to_ms / 1000, "aria-valuenow": place.ms / 1000, "aria-valuetext": clockOf(place.ms) }).forEach(([name, is]) => slider.setAttribute(name, is));
}
function near(x, y) { // the mark under the pointer, within a few pixels
  const ms = msOf(x), reach = 5 / stripWidth() * spanMs();
  const tick = data.timeline.ticks.filter((one) => Math.abs(one.ms - ms) <= reach).sort((one, other) => Math.abs(one.ms - ms) - Math.abs(other.ms - ms))[0];
  const band = data.timeline.bands.find((one) => one.from_ms - reach <= ms && ms <= one.to_ms + reach);
  return { ms, snapped: tick ? withAt(tick.ms) : ms, label: [tick?.label, band?.label].filter(Boolean).join(" · ") };
}
function drawClock() {
  $("clock").textContent = clockOf(place.ms);
  const at = moments[place.moment], last = data.events[here(data.events)], landed = place.event >= 0 && last.ms < place.ms - 1e-3;
  $("state").textContent = landed ? fill(words.after, { clock: clockOf(last.ms) }) : Math.abs(at - place.ms) < 1e-3 ? "" : fill(words.state_of, { clock: clockOf(at, at % 1000) });
  $("rate").textContent = [now.rate, now.in_flight].filter(Boolean).join(" · "); $("rate").title = now.rates;
  $("told").textContent = last && (place.event >= 0 || place.ms - last.ms < 3000) ? `${clockOf(last.ms)} ${[last.state[2], last.place, last.who, last.about].filter(Boolean).join(" ")}` : "";
}

// -- going, playing

const land = (event) => go(withAt(event.ms), { event: event.at }); // where its effect shows
function toEvent(by) {
  const back = place.event < 0 ? lastOf(data.events, place.ms - 1e-3) : place.event - 1;
  const event = data.events[by > 0 ? here(data.events) + 1 : back];
  if (event) land(event); else go(by > 0 ? data.to_ms : data.from_ms);
}
function play(on) {
  cancelAnimationFrame(place.playing);
  place.playing = 0;
  $("play").querySelector("use").setAttribute("href", on ? "#i-pause" : "#i-play");
  $("play").setAttribute("aria-label", on ? words.pause : words.play);
  if (!on) { remember(); return; }
  if (place.ms >= data.to_ms) go(data.from_ms);
  let before = performance.now();
  const frame = (at) => {
    place.playing = requestAnimationFrame(frame);
    go(place.ms + (at - before) * Number($("speed").value), { told: false });
    before = at;
    if (place.ms >= data.to_ms) play(false);
  };
  place.playing = requestAnimationFrame(frame);
}
let waiting;
const hash = () => `#t=${+(place.ms / 1000).toFixed(3)}${place.selected ? `&select=${encodeURIComponent(place.selected)}` : ""}`;
function remember() { clearTimeout(waiting); waiting = setTimeout(() => { try { history.replaceState(null, "", hash()); } catch { /* where a page has no history */ } }, 200); }
function follow() {
  const said = new URLSearchParams(location.hash.slice(1)), wanted = said.get("select") ?? "", seconds = parseFloat(said.get("t"));
  const kinds = ["node", "group", "consumer", "worker", "producer", "topic", "queue", "lane"];
  place.selected = isKnown(wanted) ? wanted : kinds.map((kind) => `${kind}:${wanted}`).find(isKnown) ?? "";
  place.moment = -1;
  go(Number.isFinite(seconds) ? seconds * 1000 : data.open_ms, { told: false });
}

const KEYS = {
  " ": () => play(!place.playing), Home: () => go(data.from_ms), End: () => go(data.to_ms), Escape: () => select(""),
  ArrowLeft: (event) => (event.ctrlKey || event.metaKey ? toEvent(-1) : go(place.ms - (event.shiftKey ? 10000 : 1000))),
  ArrowRight: (event) => (event.ctrlKey || event.metaKey ? toEvent(1) : go(place.ms + (event.shiftKey ? 10000 : 1000))),
};
function keyed(event) {
  const thing = event.target.closest?.("[data-id]"), tab = event.target.closest?.("[data-tab]");
  if (event.altKey || $("legend").open || event.target.closest?.("select, input, summary")) return;
  if (thing && event.key === "Enter") { event.preventDefault(); select(thing.dataset.id); return; }
  if (thing && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    const all = [...$("canvas").querySelectorAll("[data-id]")], next = all[all.indexOf(thing) + (event.key === "ArrowDown" ? 1 : -1)];
    if (next) { event.preventDefault(); next.focus(); }
    return;
  }
  if (tab && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
    const all = [...document.querySelectorAll("[data-tab]")], next = all[(all.indexOf(tab) + (event.key === "ArrowRight" ? 1 : all.length - 1)) % all.length];
    event.preventDefault();
    setTab(next.dataset.tab);
    next.focus();
    return;
  }
  if (event.key === " " && event.target.closest?.("button")) return;
  const does = KEYS[event.key];
  if (does) { event.preventDefault(); if (event.key !== " " && place.playing) play(false); does(event); }
}
function pressed(event) {
  const part = (name) => event.target.closest(`[data-${name}]`)?.dataset[name];
  if (part("clear")) select("");
  else if (part("link") !== undefined) { const link = part("link"); if (link.startsWith("at:")) go(withAt(Number(link.slice(3)) / 1e6)); else select(link); }
  else if (part("event") !== undefined) land(data.events[part("event")]);
  else if (part("at") !== undefined) go(withAt(Number(part("at"))));
  else if (part("own") !== undefined) { place.own = Boolean(part("own")); drawPanel(); }
  else if (part("tab")) setTab(part("tab"));
  else if (part("id") !== undefined) select(isKnown(part("id")) ? part("id") : "");
  else if (event.target.closest(".stage")) select("");
}
function connect() {
  const line = $("timeline");
  const seek = (event, snap) => { const box = line.getBoundingClientRect(), found = near(event.clientX - box.left, event.clientY - box.top); go(snap ? found.snapped : found.ms); };
  line.addEventListener("pointerdown", (event) => { if (event.button) return; play(false); line.setPointerCapture(event.pointerId); seek(event, true); });
  line.addEventListener("pointermove", (event) => {
    if (line.hasPointerCapture(event.pointerId)) { seek(event, false); return; }
    const box = line.getBoundingClientRect(), found = near(event.clientX - box.left, 0);
    line.title = [clockOf(Math.min(data.to_ms, Math.max(data.from_ms, found.ms)), 0), found.label].filter(Boolean).join(" ");
  });
  addEventListener("keydown", keyed);
  document.addEventListener("click", pressed);
  Object.entries({ previous: () => toEvent(-1), next: () => toEvent(1), back: () => go(place.ms - 1000), on: () => go(place.ms + 1000), play: () => play(!place.playing) }).forEach(([id, does]) => $(id).addEventListener("click", () => { if (id !== "play") play(false); does(); }));
  $("copy").addEventListener("click", async () => {
    const link = location.href.split("#")[0] + hash();
    try { await navigator.clipboard.writeText(link); } catch { /* it is shown, to be copied by hand */ }
    $("told").textContent = fill(words.copied, { link });
  });
  $("explain").addEventListener("click", () => $("legend").showModal());
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const themed = () => { const is = (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark"; $("theme").querySelector("use").setAttribute("href", is ? "#i-sun" : "#i-moon"); if (place.tab === "charts") drawCharts(); return is; };
  $("theme").addEventListener("click", () => { document.documentElement.dataset.theme = themed() ? "light" : "dark"; themed(); });
  dark.addEventListener("change", themed);
  themed();
  let width = 0;
  new ResizeObserver(() => { drawCanvas(); if (line.clientWidth !== width) { width = line.clientWidth; drawTimeline(); } plots.forEach(({ plot }) => plot.resize()); moveCursors(); }).observe(document.querySelector(".stage"));
  addEventListener("hashchange", follow);
  const paper = () => { drawCanvas(); drawTimeline(); };
  addEventListener("beforeprint", paper);
  addEventListener("afterprint", paper);
}

async function begin() {
  family = getComputedStyle(document.body).fontFamily;
  data = JSON.parse(await inflated("data"));
  ({ words, sizes } = data);
  moments = data.moments_ms;
  data.events.forEach((event, at) => { event.at = at; });
  connect();
  follow();
  const tab = new URLSearchParams(location.hash.slice(1)).get("tab");
  setTab(tab in panels ? tab : "figures");
  $("canvas").querySelector(".selected")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  document.documentElement.dataset.drawn = "true";
}
begin().catch((error) => { console.error(error); $("panel").textContent = fill(words?.broken ?? "This page could not be drawn: {error}.", { error: error.message }); });
})();
