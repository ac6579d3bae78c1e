// Draws the plots of `plots` into the page, and again when its width or its colours change.
  function draw(id) {
    const box = document.getElementById(id);
    if (!box) return;
    drawn.get(id)?.dispose();
    let options;
    try { options = plots[id](box); } catch (error) {
      box.textContent = `This plot could not be drawn: ${error.message}.`;
      console.error(error);
      return;
    }
    const chart = echarts.init(box, null, { renderer: "svg" });
    const byTime = timed(options);
    chart.setOption(byTime ? { ...options, ...zooming() } : options);
    chart.group = byTime && timeAxis(options).type === "value" && !["plot-owners", "plot-overview"].includes(id) ? "time" : "";
    drawn.set(id, chart);
    if (byTime) link(chart);
  }
  const drawAll = () => { Object.keys(plots).forEach(draw); echarts.connect("time"); };

  // Plots over time share what part of it they show, and the moment under the pointer. The parts are percents, which an axis of
  // buckets and one of seconds both have; each keeps its own axis.
  const shown = { start: 0, end: 100 };
  const whole = document.querySelector(".whole");
  const timeAxis = (options) => [options.xAxis].flat()[0];
  const timed = (options) => { const axis = timeAxis(options); return Boolean(axis) && (axis.max === data.to_s || (axis.type === "category" && axis.data.length === data.buckets && data.buckets > 1)); };
  const zooming = () => ({
    dataZoom: [{ type: "inside", xAxisIndex: "all", ...shown, zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, moveOnMouseMove: false, preventDefaultMouseMove: false, minSpan: 1, filterMode: "none" }],
    toolbox: { itemSize: 0, right: -40, feature: { dataZoom: { yAxisIndex: false, title: { zoom: "", back: "" }, brushStyle: { color: colour("band"), borderWidth: 0 } } } },
  });
  const timePlots = () => [...drawn.values()].filter((chart) => !chart.isDisposed() && chart.linked);
  function show(start, end) {
    if (Math.abs(shown.start - start) < 1e-6 && Math.abs(shown.end - end) < 1e-6) return;
    Object.assign(shown, { start, end });
    timePlots().forEach((chart) => chart.dispatchAction({ type: "dataZoom", dataZoomIndex: 0, start, end }));
    whole.hidden = start <= 0 && end >= 100;
    const at = (percent) => clock(data.from_s + (data.to_s - data.from_s) * percent / 100, Math.max(1, digitsOf(data.width_s)));
    whole.textContent = `${at(start)} to ${at(end)}: show all of the time`;
  }
  function link(chart) {
    chart.linked = true;
    if (matchMedia("(pointer: fine)").matches) chart.dispatchAction({ type: "takeGlobalCursor", key: "dataZoomSelect", dataZoomSelectActive: true });
    chart.on("datazoom", () => {
      const { start, end } = chart.getOption().dataZoom[0];
      show(start, end);
    });
    chart.getZr().on("mousemove", (event) => point(chart, event.offsetX, event.offsetY));
    chart.getZr().on("globalout", () => point(null));
  }
  // A line at the same moment in all the others.
  function point(from, x, y) {
    const inside = from?.containPixel({ gridIndex: 0 }, [x, y]);
    const axis = inside ? from.getModel().getComponent("xAxis", 0).axis : null;
    const coordinate = axis?.toLocalCoord(x);
    const extent = axis?.getExtent();
    const share = inside ? (coordinate - extent[0]) / (extent[1] - extent[0]) : 0;
    timePlots().forEach((chart) => {
      const box = chart.getDom();
      let mark = box.querySelector(".crosshair");
      if (!inside || chart === from) { mark?.remove(); return; }
      const grid = chart.getModel().getComponent("grid", 0).coordinateSystem.getRect();
      if (!mark) mark = box.appendChild(Object.assign(document.createElement("i"), { className: "crosshair" }));
      Object.assign(mark.style, { left: `${grid.x + share * grid.width}px`, top: `${grid.y}px`, height: `${grid.height}px` });
    });
  }
  whole?.addEventListener("click", () => show(0, 100));

  // A table is sorted by what its cells say: numbers with their units, times, else words; what is not there comes last.
  const UNITS = { ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, B: 1, kB: 1e3, KiB: 1024, MB: 1e6, MiB: 1048576, GB: 1e9, GiB: 1073741824, TB: 1e12, TiB: 1099511627776, "%": 0.01 };
  function measured(words) {
    const said = words.replaceAll(",", "").replaceAll("\u00a0", " ").replace(/^below /, "").replace(/^×/, "").trim();
    const time = said.match(/^(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)$/);
    if (time) return (+(time[1] ?? 0) * 60 + +time[2]) * 60 + +time[3];
    const parts = [...said.matchAll(/([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?) ?([a-zA-Zµ%]*)(?:\/s)?(?= |$)/g)];
    if (!parts.length || parts.map((part) => part[0]).join(" ").length < said.length) return NaN;
    return parts.reduce((sum, part) => sum + +part[1] * (UNITS[part[2]] ?? 1), 0);
  }
  const isMissing = (words) => ["", "n/a", "-", "no", "never", "nobody"].includes(words);
  function compare(one, other, numeric) {
    const lost = isMissing(one) - isMissing(other);
    if (lost || isMissing(one)) return [lost, true];
    const difference = numeric ? measured(one) - measured(other) : NaN;
    return [Number.isNaN(difference) ? one.localeCompare(other, "en", { numeric: true }) : difference, false];
  }
  document.querySelectorAll("table.sortable").forEach((one) => {
    const body = one.tBodies[0], heads = [...one.tHead.rows[0].cells], first = +one.dataset.first;
    const unfold = one.closest(".panel").querySelector(".unfold");
    const fold = () => [...body.rows].forEach((row, index) => row.classList.toggle("folded", index >= first && unfold?.getAttribute("aria-expanded") === "false"));
    fold();
    unfold?.addEventListener("click", () => { unfold.setAttribute("aria-expanded", "true"); unfold.remove(); body.querySelectorAll(".folded").forEach((row) => row.classList.remove("folded")); });
    heads.forEach((head, at) => {
      if (!head.textContent.trim()) return;
      const button = Object.assign(document.createElement("button"), { type: "button", className: "sort" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const words = (row) => row.cells[at]?.textContent.trim() ?? "";
        const numeric = [...body.rows].every((row) => isMissing(words(row)) || !Number.isNaN(measured(words(row))));
        const down = head.ariaSort ? head.ariaSort === "ascending" : numeric; // of numbers the highest is asked for first
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const sorted = [...body.rows].map((row) => [words(row), row]).sort(([a], [b]) => {
          const [difference, final] = compare(a, b, numeric);
          return final || !down ? difference : -difference;
        });
        body.append(...sorted.map(([, row]) => row));
        fold();
      });
    });
  });

  document.querySelectorAll(".choice").forEach((choice) => choice.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    choice.querySelectorAll("button").forEach((one) => one.setAttribute("aria-pressed", String(one === button)));
    (chosen[choice.dataset.plot] ??= {})[choice.dataset.choice] = button.dataset.value;
    draw(choice.dataset.plot);
    if (choice.dataset.plot === "plot-latency") draw("plot-heat");
  }));

  // A moment's command goes to the clipboard; where that is not allowed it is shown, to be copied by hand.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".moment");
    if (!button) return;
    let copied = true;
    try { await navigator.clipboard.writeText(button.dataset.command); } catch { copied = false; }
    document.querySelectorAll(".copied").forEach((old) => old.remove());
    const said = document.createElement("span");
    said.className = "copied";
    said.setAttribute("role", "status");
    said.textContent = copied ? "Copied: " : "";
    said.append(Object.assign(document.createElement("code"), { textContent: button.dataset.command }));
    button.after(said);
  });

  // Only a new width matters: a phone's address bar comes and goes.
  let width = document.documentElement.clientWidth, waiting;
  new ResizeObserver(() => {
    if (document.documentElement.clientWidth === width || document.documentElement.dataset.theme === "light") return;
    width = document.documentElement.clientWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  }).observe(document.documentElement);
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
