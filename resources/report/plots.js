// What the plots of every report share. All text from the session goes through `plain` before it comes near markup.
  const data = JSON.parse(document.getElementById("data").textContent);
  const chosen = {};
  const drawn = new Map();
  const narrow = () => document.documentElement.clientWidth < 620;

  const plain = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  let hues = 1; // in `resources/colours.py`
  while (colour(`c${hues}`)) hues += 1;
  const series = (index) => colour(index < 0 ? "faint" : `c${index % hues}`);
  const inkOn = (index) => colour(`i${index % hues}`);
  const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

  const tail = (text, most) => (text.length > most ? `…${text.slice(1 - most)}` : text); // a place's number is at its end

  function number(value) {
    if (value === null || value === undefined) return "n/a";
    const size = Math.abs(value);
    if (size >= 1e9) return `${(value / 1e9).toPrecision(3)} G`;
    if (size >= 1e6) return `${(value / 1e6).toPrecision(3)} M`;
    if (size >= 1e4) return `${(value / 1e3).toPrecision(3)} k`;
    return size >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString("en") : String(+value.toPrecision(3));
  }
  function bytes(value) {
    for (const unit of ["B", "KiB", "MiB", "GiB"]) {
      if (Math.abs(value) < 1023.5) return `${+(value < 1000 ? value.toPrecision(3) : value.toFixed(0))} ${unit}`;
      value /= 1024;
    }
    return `${+value.toPrecision(3)} TiB`;
  }
  function milliseconds(value) {
    if (value === 0) return "0 s";
    if (value < 0.001) return `${+(value * 1e6).toPrecision(3)} ns`;
    if (value < 1) return `${+(value * 1e3).toPrecision(3)} µs`;
    if (value < 1000) return `${+value.toPrecision(3)} ms`;
    return value < 1e6 ? `${+(value / 1000).toPrecision(3)} s` : `${+(value / 6e4).toPrecision(3)} min`;
  }
  const digitsOf = (width) => (width >= 1 ? 0 : Math.ceil(-Math.log10(width) - 1e-9)); // of seconds, to tell one step from the next
  function clock(seconds, digits = digitsOf(data.width_s)) {
    const scaled = Math.round(seconds * 10 ** digits) / 10 ** digits;
    const hours = Math.floor(scaled / 3600), minutes = Math.floor((scaled % 3600) / 60);
    const rest = (scaled % 60).toFixed(digits).padStart(digits ? 3 + digits : 2, "0");
    return `${hours ? `${hours}:` : ""}${String(minutes).padStart(2, "0")}:${rest}`;
  }
  const share = (value) => `${+(value * 100).toPrecision(2)} %`;

  // What every plot shares.
  const font = getComputedStyle(document.body).fontFamily;
  const text = () => ({ color: colour("soft"), fontSize: 12, fontFamily: font });
  const frame = (more) => ({
    animation: false,
    textStyle: { fontFamily: font },
    color: Array.from({ length: hues }, (_, index) => series(index)),
    grid: { left: 8, right: 26, top: 34, bottom: 6, containLabel: true },
    tooltip: {
      trigger: "axis", confine: true, backgroundColor: colour("card"), borderColor: colour("line"), padding: [8, 11],
      textStyle: { color: colour("ink"), fontSize: 12.5 }, extraCssText: "box-shadow:0 4px 18px rgba(10,15,30,.16);border-radius:8px;",
      axisPointer: { type: "line", lineStyle: { color: colour("faint"), type: [3, 3] } },
    },
    legend: {
      type: "scroll", top: 0, left: 2, icon: "roundRect", itemWidth: 12, itemHeight: 4, itemGap: 16, textStyle: text(),
      pageTextStyle: text(), pageIconColor: colour("soft"), pageIconInactiveColor: colour("line"), formatter: (name) => short(name, 34),
    },
    ...more,
  });
  const time = (more) => ({
    type: "value", min: data.from_s, max: data.to_s, axisLabel: { ...text(), formatter: (v) => clock(v, digitsOf(step() ?? 1)), hideOverlap: true },
    axisLine: { lineStyle: { color: colour("line") } }, axisTick: { lineStyle: { color: colour("line") } }, splitLine: { show: false },
    splitNumber: narrow() ? 4 : 8, interval: step(), axisPointer: { label: { show: false } }, ...more,
  });
  function step() {
    const goal = (data.to_s - data.from_s) / (narrow() ? 4 : 8);
    for (const width of [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400]) if (width >= goal) return width;
    return undefined;
  }
  const value = (format, more) => ({
    type: "value", axisLabel: { ...text(), formatter: format }, splitLine: { lineStyle: { color: colour("grid") } }, splitNumber: 4,
    axisLine: { show: false }, axisTick: { show: false }, nameTextStyle: text(), ...more,
  });
  const category = (names, more) => ({
    type: "category", data: names, axisLabel: { ...text(), formatter: (name) => tail(name, narrow() ? 18 : 34) }, axisTick: { show: false },
    axisLine: { lineStyle: { color: colour("line") } }, ...more,
  });
  // A logarithmic axis from 1 µs up, at most six decades. What is quicker, or took no time at all, lies on a line of its own below,
  // which is called 0; `value[2]` of a point is what is true.
  function decades(all) {
    const values = all.filter((v) => v !== null);
    const high = 10 ** Math.ceil(Math.log10(Math.max(0.01, ...values)) - 1e-9);
    const seen = values.filter((v) => v > 0);
    const low = Math.max(0.001, high / 1e6, 10 ** Math.floor(Math.log10(Math.min(high / 10, ...seen)) + 1e-9));
    const floor = values.some((v) => v < low) ? low / 10 : low;
    return { floor, at: (x, v) => (v === null ? [x, null] : [x, Math.max(v, floor), v]),
      axis: { type: "log", min: floor, max: high, axisLabel: { ...text(), formatter: (v) => (floor < low && v < low * 0.99 ? "0" : milliseconds(v)) } } };
  }
  const points = (values) => values.map((y, index) => [+(Math.min(data.from_s + (index + 0.5) * data.width_s, data.to_s)).toFixed(6), y]);
  const line = (name, values, index, more) => ({
    name, type: "line", data: values, showSymbol: false, symbolSize: 6, lineStyle: { width: 1.8, color: series(index) }, itemStyle: { color: series(index) },
    emphasis: { focus: "series", lineStyle: { width: 2.4 } }, ...more,
  });

  const LABELLED = 8; // lines whose labels have room beside each other; what more are say is in the tooltip
  // What happened at once, or nearly, has one label: the first, and how many more.
  function named(markers) {
    const near = (data.to_s - data.from_s) / (narrow() ? 12 : 36), firsts = [];
    for (const marker of [...markers].sort((a, b) => a.at - b.at)) {
      const last = firsts.at(-1);
      if (last && marker.at - last.at < near) last.more += 1;
      else firsts.push({ at: marker.at, text: marker.text, more: 0 });
    }
    return new Map(firsts.map((one) => [one.at, one.more ? `${short(one.text, 18)} +${one.more}` : short(one.text, 22)]));
  }
  // Rebalances as bands and faults and actions as lines, once per plot, behind everything. Where there are lanes for them, no labels.
  const context = (labelled = data.markers.length <= LABELLED, names = named(data.markers)) => ({
    name: "", type: "line", data: [], silent: true, tooltip: { show: false }, z: 0,
    markArea: { silent: true, itemStyle: { color: colour("band") }, data: data.rebalances.map((band) => [{ xAxis: band.from }, { xAxis: band.to }]) },
    markLine: {
      silent: true, symbol: "none", label: { show: labelled, formatter: (line) => line.name, position: "insideEndTop", color: colour("ink"), fontSize: 10.5, fontFamily: font }, lineStyle: { color: colour("band-ink"), width: 1, type: [2, 3], opacity: 0.8 },
      data: [...new Set(data.markers.map((marker) => marker.at))].map((at) => ({ xAxis: at, name: names.get(at) ?? "" })),
    },
  });
  function happened(from, to) {
    const bands = data.rebalances.filter((band) => band.from < to && band.to >= from).map((band) => `Rebalance of ${band.group}: ${band.cause}`);
    const marks = data.markers.filter((marker) => marker.at >= from && marker.at < to).map((marker) => `${marker.kind.replace("_", " ")}: ${marker.text}`);
    return [...bands, ...marks].map((words) => `<div style="margin-top:4px;color:${colour("band-ink")}">${plain(short(words, 70))}</div>`).join("");
  }
  const swatch = (paint) => `<span style="display:inline-block;width:9px;height:9px;border-radius:3px;margin-right:7px;background:${paint}"></span>`;
  const row = (paint, name, shown) =>
    `<tr><td style="padding:1px 14px 1px 0;border:0">${swatch(paint)}${plain(short(name, 40))}</td><td style="padding:1px 0;border:0;text-align:right;font-variant-numeric:tabular-nums"><b>${plain(shown)}</b></td></tr>`;
  const table = (rows) => `<table style="width:auto;font-size:12.5px">${rows.join("")}</table>`;
  const overTime = (format) => ({
    formatter: (items) => {
      const shown = items.filter((item) => item.seriesName && item.value[1] !== null);
      if (!items.length) return "";
      const at = data.from_s + Math.floor((items[0].value[0] - data.from_s) / data.width_s) * data.width_s;
      const most = [...shown].sort((a, b) => b.value[1] - a.value[1]).slice(0, 12);
      return `<b>${clock(at)}</b> to ${clock(at + data.width_s)}${table(most.map((item) => row(item.color, item.seriesName, format(item.value[2] ?? item.value[1], item.seriesName))))}${happened(at, at + data.width_s)}`;
    },
  });
  // What the colours of a heat map mean, beside its heading; from the lowest to the highest, in equal steps or not.
  function heatScale(id, low, high, steps, logarithmic) {
    const box = document.querySelector(`.heatscale[data-for="${id}"]`);
    const colours = steps.map((n) => colour(`heat${n}`)).join(", ");
    box.innerHTML = `<span>${plain(low)}</span><i style="background:linear-gradient(90deg, ${colours})"></i><span>${plain(high)}</span>${logarithmic ? "<em>logarithmic</em>" : ""}`;
  }
  const withTooltip = (options, more) => ({ ...options, tooltip: { ...options.tooltip, ...more } });

  function bars(box, names, all) {
    const parts = all.filter(([, values]) => values.some(Boolean));
    box.style.height = `${Math.max(110, names.length * 30 + 68)}px`;
    return withTooltip(frame({
      xAxis: value(number), yAxis: category(names, { inverse: true, axisLine: { show: false } }),
      series: parts.map(([name, values, paint]) => ({ name, type: "bar", stack: "all", data: values, barMaxWidth: 17, itemStyle: { color: colour(paint), borderColor: colour("card"), borderWidth: 0.5 } })),
    }), { axisPointer: { type: "none" }, formatter: (items) => `<b>${plain(items[0].name)}</b>${table(items.filter((item) => item.value).map((item) => row(item.color, item.seriesName, number(item.value))))}` });
  }

