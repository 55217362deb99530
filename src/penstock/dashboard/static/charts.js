// Charts over one time axis, as SVG. A chart is told its series and draws them; moving and zooming is told to all.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const MARK_PIXELS = 12; // changes closer together than this, on average, cannot be told apart
const MARGIN = { left: 46, right: 10, top: 6, bottom: 20 }, HEIGHT = 150;

// Makes an element. What people wrote, such as names of operators, only ever goes in as text.
function element(tag, attributes = {}, ...children) {
  const made = ["svg", "path", "line", "rect", "text", "g", "title", "marker", "circle"].includes(tag)
    ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function short(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  const scaled = (unit, digits = 1) => (value / unit).toFixed(digits).replace(/\.0$/, "");
  if (size >= 1e9) return scaled(1e9) + " G";
  if (size >= 1e6) return scaled(1e6) + " M";
  if (size >= 1e4) return scaled(1e3, size >= 1e5 ? 0 : 1) + " k";
  if (size >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString("en");
  return value.toFixed(size >= 10 ? 1 : 2);
}

function milliseconds(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  return value >= 60000 ? (value / 60000).toFixed(1).replace(/\.0$/, "") + " min" : value >= 1000
    ? (value / 1000).toFixed(value >= 10000 ? 0 : 1).replace(/\.0$/, "") + " s" : Math.round(value) + " ms";
}

// Wall-clock time of a live job, hours and minutes since the start of a simulated one.
function moment(t, simulated, span = 0) {
  if (simulated) {
    const s = Math.round(t), two = (n) => String(n).padStart(2, "0");
    const clock = `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}`;
    return span && span < 1200 ? `${clock}:${two(s % 60)}` : clock;
  }
  const date = new Date(1000 * t);
  if (span > 2 * 86400) return date.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  const time = { hour: "2-digit", minute: "2-digit", ...(span < 1200 ? { second: "2-digit" } : {}) };
  return date.toLocaleTimeString("en-GB", time);
}

function ticks(low, high, count, least = 0) {
  const rough = Math.max((high - low) / count, least), power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((each) => each * power >= rough) || 10);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(at);
  return found;
}

// Steps of an axis in milliseconds: those that are read easily as seconds and minutes.
const MS_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5];

function latencyTicks(high, count) {
  const step = MS_STEPS.find((each) => high / each <= count);
  return step ? Array.from({ length: Math.floor(high / step) + 1 }, (_, i) => i * step) : ticks(0, high, count);
}

const TIME_STEPS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400, 172800, 604800, 2592000];

function timeTicks(low, high, count) {
  const step = TIME_STEPS.find((each) => (high - low) / each <= count) || (high - low) / count;
  const shift = high > 1e8 ? 60 * new Date(1000 * high).getTimezoneOffset() : 0; // midnight where the reader is
  const found = [];
  for (let at = Math.ceil((low - shift) / step) * step + shift; at <= high; at += step) found.push(at);
  return found;
}

class Chart {
  // axis: {begin, end, simulated}, shared by all charts; on: {hover(t), zoom(begin, end), choose(mark)}
  // whole: whether its values are counts, which have no halves
  constructor(title, unit, format, on, whole = false) {
    Object.assign(this, { format, on, whole });
    this.legend = element("div", { class: "legend" });
    this.svg = element("svg", { role: "img", "aria-label": title, height: HEIGHT });
    this.unit = element("span", {}, unit);
    this.host = element("section", { class: "chart", "data-chart": title }, element("h2", {}, title, this.unit), this.svg, this.legend);
    new ResizeObserver(() => this.redraw()).observe(this.host);
    this.svg.addEventListener("pointermove", (event) => this.moved(event));
    this.svg.addEventListener("pointerleave", () => { this.from = null; this.on.hover(null); this.redraw(); });
    this.svg.addEventListener("pointerdown", (event) => { this.from = this.timeAt(event); });
    this.svg.addEventListener("pointerup", (event) => this.released(event));
    this.svg.addEventListener("dblclick", () => this.on.zoom(null, null));
  }

  // series: [{name, color, points: [[t, value]], step, dash, area}]; marks: [{t, grows, number}]; shaded: [[begin, end,
  // share]]; target: a value
  show(axis, series, marks = [], shaded = [], target = null) {
    const known = series.filter((each) => each.points.some((point) => point[1] !== null && point[1] !== undefined));
    Object.assign(this, { axis, series: known, marks, shaded, target });
    this.redraw();
  }

  redraw() {
    const width = this.svg.clientWidth;
    if (!this.axis || !width) return;
    this.width = width;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const { begin, end, simulated } = this.axis, inside = (p) => p[0] >= begin && p[0] <= end;
    const values = this.series.flatMap((each) => each.points.filter(inside).map((p) => p[1])).filter((v) => v !== null);
    const top = Math.max(...values, this.target || 0, this.whole ? 1 : 0) * 1.08 || 1;
    this.x = (t) => MARGIN.left + (width - MARGIN.left - MARGIN.right) * (t - begin) / (end - begin || 1);
    this.y = (v) => HEIGHT - MARGIN.bottom - (HEIGHT - MARGIN.top - MARGIN.bottom) * v / top;
    const right = width - MARGIN.right, floor = this.y(0), clip = (t) => Math.min(right, Math.max(MARGIN.left, this.x(t)));
    const parts = this.shaded.filter(([a, b]) => b > begin && a < end).map(([a, b, share]) => element("rect", {
      class: "shade", x: clip(a), y: MARGIN.top, width: Math.max(1.5, clip(b) - clip(a)), height: floor - MARGIN.top,
      opacity: 0.15 + 0.85 * share }));
    const scale = this.format === milliseconds ? latencyTicks(top, 5) : ticks(0, top, 5, this.whole ? 1 : 0);
    for (const at of values.length ? scale : [0]) {
      parts.push(element("line", { class: "grid", x1: MARGIN.left, x2: right, y1: this.y(at), y2: this.y(at) }),
        element("text", { x: MARGIN.left - 6, y: this.y(at) + 4, "text-anchor": "end" }, this.format(at)));
    }
    for (const at of timeTicks(begin, end, Math.max(2, width / 90))) {
      parts.push(element("text", { x: this.x(at), y: HEIGHT - 5,
        "text-anchor": right - this.x(at) < 22 ? "end" : "middle" }, moment(at, simulated, end - begin)));
    }
    const seen = this.marks.filter((mark) => mark.t >= begin && mark.t <= end);
    this.drawn = seen.length * MARK_PIXELS < right - MARGIN.left ? seen : [];
    for (const { t, grows } of this.drawn) {
      const x = this.x(t), tip = grows ? [MARGIN.top + 5, MARGIN.top - 2] : [MARGIN.top - 2, MARGIN.top + 5];
      parts.push(element("line", { class: "mark", x1: x, x2: x, y1: MARGIN.top + 5, y2: floor }), element("path", {
        class: grows ? "tip grows" : "tip", d: `M${x - 4} ${tip[0]}H${x + 4}L${x} ${tip[1]}Z` }));
    }
    if (!values.length) {
      const middle = (MARGIN.left + right) / 2;
      parts.push(element("text", { class: "empty", x: middle, y: HEIGHT / 2, "text-anchor": "middle" }, "not measured"));
    }
    if (this.target !== null) {
      parts.push(element("line", { class: "target", x1: MARGIN.left, x2: right, y1: this.y(this.target), y2: this.y(this.target) }));
    }
    for (const each of this.series) {
      const drawn = each.area ? this.path(each) : "";
      if (drawn) parts.push(element("path", { class: "area", fill: each.color, d: this.closed(drawn, floor) }));
      parts.push(element("path", { class: "curve", stroke: each.color, d: this.path(each), "stroke-dasharray": each.dash }));
    }
    this.cursor = element("line", { class: "cursor", y1: MARGIN.top, y2: floor, visibility: "hidden" });
    this.zoomed = element("rect", { class: "zoom", y: MARGIN.top, height: floor - MARGIN.top, width: 0 });
    this.svg.replaceChildren(...parts, this.cursor, this.zoomed);
    this.point(null);
  }

  path(series) {
    const { begin, end } = this.axis;
    let text = "", last = null, drawn = false;
    for (const [t, value] of series.points) {
      if (value === null || value === undefined) { drawn = drawn && series.step; continue; }
      if (t > end) break;
      if (t >= begin) {
        if (!drawn && series.step && last !== null) text += `M${this.x(begin).toFixed(1)} ${this.y(last).toFixed(1)}`;
        const joined = drawn || (series.step && last !== null);
        if (joined && series.step) text += `H${this.x(t).toFixed(1)}`;
        text += `${joined ? "L" : "M"}${this.x(t).toFixed(1)} ${this.y(value).toFixed(1)}`;
        drawn = true;
      }
      last = value;
    }
    if (series.step && last !== null) {
      if (!drawn) text += `M${this.x(begin).toFixed(1)} ${this.y(last).toFixed(1)}`;
      text += `H${this.x(Math.min(end, this.axis.last)).toFixed(1)}`;
    }
    return text;
  }

  // A path as the edge of an area: each of its pieces goes down to the floor at both ends.
  closed(path, floor) {
    return path.split("M").filter(Boolean).map((piece) => {
      const from = piece.split(" ")[0], to = piece.match(/[LH]?([\d.]+)(?: [\d.]+)?$/)[1];
      return `M${from} ${floor}L${piece}L${to} ${floor}Z`;
    }).join("");
  }

  timeAt(event) {
    const inside = event.clientX - this.svg.getBoundingClientRect().left, width = this.width - MARGIN.left - MARGIN.right;
    const share = Math.min(1, Math.max(0, (inside - MARGIN.left) / width));
    return this.axis.begin + share * (this.axis.end - this.axis.begin);
  }

  moved(event) {
    if (!this.axis) return;
    const t = this.timeAt(event);
    if (this.from !== null && this.from !== undefined && event.buttons) {
      const [a, b] = [this.x(Math.min(t, this.from)), this.x(Math.max(t, this.from))];
      this.zoomed.setAttribute("x", a);
      this.zoomed.setAttribute("width", b - a);
    }
    this.on.hover(t);
  }

  released(event) {
    const to = this.timeAt(event), from = this.from;
    this.from = null;
    if (from === null || from === undefined) return;
    if (Math.abs(this.x(to) - this.x(from)) < 8) {
      const near = (mark) => Math.abs(this.x(mark.t) - this.x(to));
      const [nearest] = this.drawn.filter((mark) => near(mark) < 8).sort((a, b) => near(a) - near(b));
      if (nearest) this.on.choose(nearest);
      return;
    }
    this.on.zoom(Math.min(from, to), Math.max(from, to));
  }

  // Show the values at a time, or the newest ones.
  point(t) {
    if (!this.axis || !this.cursor) return;
    this.cursor.setAttribute("visibility", t === null ? "hidden" : "visible");
    if (t !== null) for (const end of ["x1", "x2"]) this.cursor.setAttribute(end, this.x(t));
    const at = t === null ? this.axis.end : t;
    this.legend.replaceChildren(...this.series.map((each) => {
      const swatch = element("i");
      swatch.style.background = each.color; // a property, which the page's policy allows
      return element("span", {}, swatch, each.name + " ", element("b", {}, this.format(valueAt(each, at))));
    }), ...(t === null ? [] : [element("span", {}, moment(t, this.axis.simulated, 1))]));
  }
}

function valueAt(series, t) {
  let found = null;
  for (const [at, value] of series.points) {
    if (at > t) {
      if (!series.step && found !== null && value !== null && at - t < t - found[0]) return value;
      break;
    }
    if (value !== null && value !== undefined) found = [at, value];
  }
  return found === null ? null : found[1];
}
