"use strict";
// Draws the plots. All text from the session goes through `plain` before it comes near markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const chosen = {};
  const drawn = new Map();
  const narrow = () => document.documentElement.clientWidth < 620;

  const plain = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const series = (index) => colour(`c${index % 10}`);
  const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

  const tail = (text, most) => (text.length > most ? `…${text.slice(1 - most)}` : text); // a place's number is at its end

  function number(value) {
    if (value === null || value === undefined) return "n/a";
    const size = Math.abs(value);
    if (size >= 1e6) return `${(value / 1e6).toPrecision(3)} M`;
    if (size >= 1e4) return `${(value / 1e3).toPrecision(3)} k`;
    return size >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString("en") : String(+value.toPrecision(3));
  }
  function bytes(value) {
    for (const unit of ["B", "kB", "MB", "GB"]) {
      if (Math.abs(value) < 1000) return `${+value.toPrecision(3)} ${unit}`;
      value /= 1000;
    }
    return `${+value.toPrecision(3)} TB`;
  }
  function milliseconds(value) {
    if (value === 0) return "0 s";
    if (value < 0.001) return `${+(value * 1e6).toPrecision(3)} ns`;
    if (value < 1) return `${+(value * 1e3).toPrecision(3)} µs`;
    if (value < 1000) return `${+value.toPrecision(3)} ms`;
    return value < 1e6 ? `${+(value / 1000).toPrecision(3)} s` : `${+(value / 6e4).toPrecision(3)} min`;
  }
  function clock(seconds, digits = data.width_s < 1 ? 1 : 0) {
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
    color: Array.from({ length: 10 }, (_, index) => series(index)),
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
    type: "value", min: 0, max: data.duration_s, axisLabel: { ...text(), formatter: (v) => clock(v, 0), hideOverlap: true },
    axisLine: { lineStyle: { color: colour("line") } }, axisTick: { lineStyle: { color: colour("line") } }, splitLine: { show: false },
    splitNumber: narrow() ? 4 : 8, interval: step(), axisPointer: { label: { show: false } }, ...more,
  });
  function step() {
    const goal = data.duration_s / (narrow() ? 4 : 8);
    for (const width of [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400]) if (width >= goal) return width;
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
  // A logarithmic axis from 1 µs up, at most six decades: what is quicker lies on its bottom line.
  function decades(values) {
    const high = 10 ** Math.ceil(Math.log10(Math.max(0.01, ...values)));
    const least = Math.min(high / 10, ...values.filter((v) => v > 0));
    return [Math.max(0.001, high / 1e6, 10 ** Math.floor(Math.log10(least))), high];
  }
  const points = (values) => values.map((y, index) => [+(Math.min((index + 0.5) * data.width_s, data.duration_s)).toFixed(6), y]);
  const line = (name, values, index, more) => ({
    name, type: "line", data: values, showSymbol: false, symbolSize: 6, lineStyle: { width: 1.8, color: series(index) }, itemStyle: { color: series(index) },
    emphasis: { focus: "series", lineStyle: { width: 2.4 } }, ...more,
  });

  // Rebalances as bands and faults and actions as lines, once per plot, behind everything.
  const context = () => ({
    name: "", type: "line", data: [], silent: true, tooltip: { show: false }, z: 0,
    markArea: { silent: true, itemStyle: { color: colour("band") }, data: data.rebalances.map((band) => [{ xAxis: band.from }, { xAxis: band.to }]) },
    markLine: {
      silent: true, symbol: "none", label: { show: false }, lineStyle: { color: colour("band-ink"), width: 1, type: [2, 3], opacity: 0.8 },
      data: data.markers.map((marker) => ({ xAxis: marker.at })),
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
      const at = Math.floor(items[0].value[0] / data.width_s) * data.width_s;
      const most = [...shown].sort((a, b) => b.value[1] - a.value[1]).slice(0, 12);
      return `<b>${clock(at)}</b> to ${clock(at + data.width_s)}${table(most.map((item) => row(item.color, item.seriesName, format(item.value[1], item.seriesName))))}${happened(at, at + data.width_s)}`;
    },
  });
  const withTooltip = (options, more) => ({ ...options, tooltip: { ...options.tooltip, ...more } });

  const plots = {
    "plot-throughput": () => {
      const by = chosen["plot-throughput"]?.By ?? "topic", unit = chosen["plot-throughput"]?.Unit ?? "messages";
      const format = unit === "bytes" ? (v) => `${bytes(v)}/s` : (v) => `${number(v)}/s`;
      const found = data.throughput[by];
      return withTooltip(frame({
        xAxis: time(), yAxis: value(format),
        series: [context(), ...found.map((one, index) => line(one.name, points(one[unit]), index, {
          stack: "all", ...(found.length > 1
            ? { areaStyle: { opacity: 0.82, color: series(index) }, lineStyle: { width: 0.6, color: colour("card") } }
            : { areaStyle: { opacity: 0.16, color: series(index) } }),
        }))],
      }), overTime(format));
    },
    "plot-latency": () => {
      const found = data.latency_over_time[chosen["plot-latency"]?.Until ?? "delivered"] ?? [];
      const [low, high] = decades(found.flatMap((r) => r.slice(1)));
      const names = ["p50", "p90", "p99", "maximum"];
      return withTooltip(frame({
        xAxis: time(), yAxis: value(milliseconds, { type: "log", min: low, max: high }),
        series: [context(), ...names.map((name, index) => line(name,
          found.map((r) => [r[0] + data.width_s / 2, Math.max(r[index + 1], low)]), index,
          { connectNulls: false, showSymbol: index === 3, symbol: "circle", symbolSize: 3.5, lineStyle: { width: index === 3 ? 0 : 1.8, color: series([0, 2, 1, 5][index]) }, itemStyle: { color: series([0, 2, 1, 5][index]) } }))],
      }), overTime(milliseconds));
    },
    "plot-heat": () => {
      const heat = data.latency_heat[chosen["plot-latency"]?.Until ?? "delivered"] ?? { cells: [], labels: [], has_zero: false };
      const labels = heat.labels.map((ms, index) => (heat.has_zero && index === 0 ? 0 : ms));
      const names = Array.from({ length: data.buckets }, (_, index) => clock(index * data.width_s));
      const most = Math.max(1, ...heat.cells.map((cell) => cell[2]));
      const decade = (index) => heat.has_zero ? index === 0 || index > 1 && Math.abs(Math.log10(labels[index]) % 1) < 0.02 : Math.abs(Math.log10(labels[index]) % 1) < 0.02;
      return withTooltip(frame({
        legend: undefined, grid: { left: 8, right: 26, top: 12, bottom: 6, containLabel: true },
        xAxis: category(names, { axisLabel: { ...text(), interval: Math.max(0, Math.round((step() ?? 1) / data.width_s) * (narrow() ? 1 : 2) - 1), formatter: (v) => v.replace(/\.\d$/, "") }, splitArea: { show: false } }),
        yAxis: category(labels.map(String), { axisLabel: { ...text(), interval: (index) => decade(index), formatter: (ms) => milliseconds(+(+ms).toPrecision(1)) } }),
        visualMap: { show: false, min: 0, max: Math.log10(most + 1), dimension: 3, inRange: { color: [0, 1, 2, 3].map((n) => colour(`heat${n}`)) } },
        series: [{ type: "heatmap", data: heat.cells.map((cell) => [...cell, Math.log10(cell[2] + 1)]), emphasis: { itemStyle: { borderColor: colour("ink"), borderWidth: 1 } } }],
      }), {
        trigger: "item",
        formatter: (item) => {
          const [x, y, count] = item.value, at = x * data.width_s;
          const words = heat.has_zero && y === 0 ? "below 1 µs" : `${milliseconds(labels[y])} to ${milliseconds(labels[y] * 10 ** 0.125)}`;
          return `<b>${clock(at)}</b> to ${clock(at + data.width_s)}<br>${plain(words)}: <b>${number(count)}</b> messages${happened(at, at + data.width_s)}`;
        },
      });
    },
    "plot-curve": () => {
      const names = { delivered: "First delivery", acknowledged: "Acknowledged" };
      const [low, high] = decades(Object.values(data.latency_curve).flat().map((p) => p[1]));
      const percent = (v) => (v <= 1 ? "0" : `p${+(100 * (1 - 1 / v)).toFixed(Math.max(0, Math.round(Math.log10(v)) - 2))}`);
      return withTooltip(frame({
        grid: { left: 8, right: 26, top: 34, bottom: 6, containLabel: true },
        xAxis: value(percent, { type: "log", min: 1, splitLine: { show: false }, axisLine: { lineStyle: { color: colour("line") } } }), yAxis: value(milliseconds, { type: "log", min: low, max: high }),
        series: Object.keys(names).filter((key) => data.latency_curve[key]).map((key, index) =>
          line(names[key], data.latency_curve[key].map(([x, ms]) => [x, Math.max(ms, low)]), index, { step: "end" })),
      }), {
        formatter: (items) => `<b>p${+(100 * (1 - 1 / items[0].value[0])).toPrecision(5)}</b>${table(items.map((item) => row(item.color, item.seriesName, milliseconds(item.value[1]))))}`,
      });
    },
    "plot-lag": () => withTooltip(frame({
      xAxis: time(), yAxis: value(number),
      series: [context(), ...data.lag.slice(0, 8).map((one, index) => line(one.name, points(one.lag), index, { areaStyle: index === 0 ? { opacity: 0.1 } : undefined }))],
    }), overTime(number)),
    "plot-lag-heat": (box) => {
      const rows = [...data.lag].sort((a, b) => (a.name < b.name ? 1 : -1));
      box.style.height = `${Math.max(120, rows.length * 24 + 46)}px`;
      const cells = rows.flatMap((one, y) => one.lag.map((v, x) => (v === null ? null : [x, y, v, Math.log10(v + 1)])).filter(Boolean));
      const names = Array.from({ length: data.buckets }, (_, index) => clock(index * data.width_s));
      return withTooltip(frame({
        legend: undefined, grid: { left: 8, right: 26, top: 6, bottom: 6, containLabel: true },
        xAxis: category(names, { axisLabel: { ...text(), interval: Math.max(0, Math.round((step() ?? 1) / data.width_s) - 1), formatter: (v) => v.replace(/\.\d$/, "") } }),
        yAxis: category(rows.map((one) => one.name), { axisLine: { show: false } }),
        visualMap: { show: false, min: 0, max: Math.max(0.3, ...cells.map((cell) => cell[3])), dimension: 3, inRange: { color: [0, 1, 2, 3].map((n) => colour(`heat${n}`)) } },
        series: [{ type: "heatmap", data: cells, itemStyle: { borderColor: colour("card"), borderWidth: 0 } }],
      }), {
        trigger: "item",
        formatter: (item) => `<b>${plain(rows[item.value[1]].name)}</b><br>${clock(item.value[0] * data.width_s)}: <b>${number(item.value[2])}</b> messages behind${happened(item.value[0] * data.width_s, (item.value[0] + 1) * data.width_s)}`,
      });
    },
    "plot-owners": (box) => {
      const { rows, clients, spans, groups } = data.ownership;
      box.style.height = `${rows.length * 27 + 44}px`;
      const bar = (params, api) => {
        const left = api.coord([api.value(1), api.value(0)]), right = api.coord([api.value(2), api.value(0)]);
        const height = Math.min(19, api.size([0, 1])[1] * 0.74), width = Math.max(1.5, right[0] - left[0] - 1);
        const name = clients[api.value(3)], room = Math.floor(width / 7.2);
        return {
          type: "group",
          children: [
            { type: "rect", shape: { x: left[0], y: left[1] - height / 2, width, height, r: 4 }, style: { fill: series(api.value(3)) } },
            { type: "text", silent: true, x: left[0] + 8, y: left[1], style: { text: room > 4 ? short(name, room - 1) : "", fill: dark() ? "#0f1217" : "#fff", fontSize: 11.5, fontWeight: 600, textVerticalAlign: "middle" } },
          ],
        };
      };
      const band = (params, api) => {
        const mine = groups.map((group, index) => [group, index]).filter(([group]) => group === data.rebalances[api.value(2)].group).map(([, index]) => index);
        if (!mine.length) return null;
        const top = api.coord([api.value(0), Math.min(...mine)])[1], bottom = api.coord([api.value(1), Math.max(...mine)])[1];
        const half = api.size([0, 1])[1] / 2, left = api.coord([api.value(0), 0])[0], right = api.coord([api.value(1), 0])[0];
        return { type: "rect", shape: { x: left, y: Math.min(top, bottom) - half, width: Math.max(2, right - left), height: Math.abs(bottom - top) + 2 * half }, style: { fill: colour("band") } };
      };
      return withTooltip(frame({
        grid: { left: 8, right: 26, top: 4, bottom: 6, containLabel: true },
        legend: { show: false },
        xAxis: time(), yAxis: category(rows, { inverse: true, axisLine: { show: false } }),
        series: [
          { type: "custom", renderItem: band, data: data.rebalances.map((one, index) => [one.from, one.to, index]), encode: { x: [0, 1] }, tooltip: { formatter: (item) => { const one = data.rebalances[item.value[2]]; return `<b>${clock(one.from, 1)}</b> Rebalance of ${plain(one.group)}<br>${plain(one.cause)}<br>${milliseconds((one.to - one.from) * 1000)}, ${number(one.stopped)} partitions stopped`; } } },
          { type: "custom", renderItem: bar, data: spans, encode: { x: [1, 2], y: 0 }, tooltip: { formatter: (item) => { const [y, from, to, client, generation] = item.value; return `<b>${plain(rows[y])}</b><br>${swatch(series(client))}${plain(clients[client])}, generation ${number(generation)}<br>${clock(from, 1)} to ${clock(to, 1)}`; } } },
        ],
      }), { trigger: "item" });
    },
    "plot-queues": () => withTooltip(frame({
      xAxis: time(), yAxis: value(number),
      series: [context(), ...data.queues.flatMap((queue, index) => [
        line(`${queue.name}, waiting`, points(queue.waiting), index * 2, { areaStyle: { opacity: 0.16 } }), line(`${queue.name}, in flight`, points(queue.in_flight), index * 2 + 1),
      ])],
    }), overTime(number)),
    "plot-attempts": (box) => bars(box, data.attempts.map((one) => one.name), [["Acknowledged", "acknowledged", 2], ["Refused", "nacked", 1], ["Lease expired", "lease_expired", 3], ["Released", "released", 9]]
      .map(([name, key, index]) => [name, data.attempts.map((one) => one[key]), index])),
    "plot-dead": (box) => bars(box, data.dead_letters.map((one) => `${one.cause} (${one.group})`), [
      ["Redriven", data.dead_letters.map((one) => one.redriven), 2], ["Still dead", data.dead_letters.map((one) => one.dead - one.redriven), 5]]),
    "plot-pressure": () => {
      const lost = data.backpressure.flatMap((one) => [["refused", one.rejected], ["dropped", one.dropped]].filter(([, values]) => values.some(Boolean)).map(([word, values]) => [`${one.name}, ${word}`, values]));
      const blocked = data.backpressure.filter((one) => one.blocked.some(Boolean));
      const most = Math.max(0, ...blocked.flatMap((one) => one.blocked));
      const format = (v, name) => (blocked.some((one) => `${one.name}, blocked` === name) ? share(v) : number(v));
      return withTooltip(frame({
        grid: { left: 8, right: lost.length ? 8 : 26, top: 34, bottom: 6, containLabel: true },
        xAxis: time(), yAxis: [value((v) => share(v), most > 1 ? { min: 0 } : { min: 0, max: 1, interval: 0.25 }), value(number, { show: lost.length > 0, splitLine: { show: false } })],
        series: [context(), ...blocked.map((one, index) => line(`${one.name}, blocked`, points(one.blocked), index, { step: "middle", areaStyle: { opacity: 0.13 }, lineStyle: { width: 1.2, color: series(index) } })),
          ...lost.map(([name, values], index) => ({ name, type: "bar", stack: "lost", z: 3, yAxisIndex: 1, data: points(values), barMaxWidth: 7, itemStyle: { color: series(index + 5), borderRadius: [2, 2, 0, 0] } }))],
      }), overTime(format));
    },
    "plot-partitions": (box) => {
      const topics = data.partitions, names = topics.flatMap((one) => one.partitions.map((number_) => `${one.name}/${number_}`));
      if (names.length > 14) box.style.height = "290px";
      const even = topics.flatMap((one) => one.partitions.map(() => one.messages.reduce((a, b) => a + b, 0) / one.partitions.length));
      const shares = topics.flatMap((one) => one.share);
      return withTooltip(frame({
        legend: undefined, grid: { left: 8, right: 26, top: 14, bottom: 6, containLabel: true },
        xAxis: category(names, { axisLabel: { ...text(), hideOverlap: true } }), yAxis: value(number),
        series: [{ name: "Messages", type: "bar", barMaxWidth: 46, data: topics.flatMap((one) => one.messages).map((v, index) => ({ value: v, itemStyle: { color: v > 1.5 * even[index] ? series(1) : series(0), borderRadius: [4, 4, 0, 0] } })) },
          { name: "Even share", type: "line", step: "middle", data: even, symbol: "none", lineStyle: { color: colour("soft"), width: 1.2, type: [4, 4] } }],
      }), { axisPointer: { type: "none" }, formatter: (items) => { const at = items[0].dataIndex; return `<b>${plain(names[at])}</b>${table([row(items[0].color, "Messages", number(items[0].value)), row("transparent", "Share of the topic", share(shares[at])), row("transparent", "An even share", number(even[at]))])}`; } });
    },
  };
  function bars(box, names, all) {
    const parts = all.filter(([, values]) => values.some(Boolean));
    box.style.height = `${Math.max(110, names.length * 30 + 68)}px`;
    return withTooltip(frame({
      xAxis: value(number), yAxis: category(names, { inverse: true, axisLine: { show: false } }),
      series: parts.map(([name, values, index]) => ({ name, type: "bar", stack: "all", data: values, barMaxWidth: 17, itemStyle: { color: series(index), borderColor: colour("card"), borderWidth: 0.5 } })),
    }), { axisPointer: { type: "none" }, formatter: (items) => `<b>${plain(items[0].name)}</b>${table(items.filter((item) => item.value).map((item) => row(item.color, item.seriesName, number(item.value))))}` });
  }

  const dark = () => document.documentElement.dataset.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches;
  function draw(id) {
    const box = document.getElementById(id);
    if (!box) return;
    const options = plots[id](box);
    drawn.get(id)?.dispose();
    const chart = echarts.init(box, null, { renderer: "svg" });
    chart.setOption(options);
    chart.group = options.xAxis && options.xAxis.type === "value" && options.xAxis.max === data.duration_s && id !== "plot-owners" ? "time" : "";
    drawn.set(id, chart);
  }
  const drawAll = () => { Object.keys(plots).forEach(draw); echarts.connect("time"); };

  document.querySelectorAll(".choice").forEach((choice) => choice.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    choice.querySelectorAll("button").forEach((one) => one.setAttribute("aria-pressed", String(one === button)));
    (chosen[choice.dataset.plot] ??= {})[choice.dataset.choice] = button.dataset.value;
    draw(choice.dataset.plot);
    if (choice.dataset.plot === "plot-latency") draw("plot-heat");
  }));

  let width = window.innerWidth, waiting;
  addEventListener("resize", () => {
    if (window.innerWidth === width) return; // a phone's address bar coming and going
    width = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light"; // also narrows the page to the paper's width
    drawAll();
    document.querySelectorAll(".plot svg").forEach((svg) => svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${svg.getAttribute("height")}`));
  });
  addEventListener("afterprint", () => { delete document.documentElement.dataset.theme; drawAll(); });

  // The section in view is marked in the navigation.
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
    links.forEach((link) => link.removeAttribute("aria-current"));
    const link = links.get(entry.target.id);
    link.setAttribute("aria-current", "true");
    const list = link.closest("ul");
    list.scrollTo({ left: link.offsetLeft - list.clientWidth / 2 + link.clientWidth / 2 });
  }), { rootMargin: "-15% 0px -75% 0px" });
  links.forEach((_, id) => { const target = document.getElementById(id); if (target) seen.observe(target); });

  drawAll();
})();
