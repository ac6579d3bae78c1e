// Draws the plots of `plots` into the page, and again when its width or its colours change.
  function draw(id) {
    const box = document.getElementById(id);
    if (!box) return;
    const options = plots[id](box);
    drawn.get(id)?.dispose();
    const chart = echarts.init(box, null, { renderer: "svg" });
    chart.setOption(options);
    chart.group = options.xAxis && options.xAxis.type === "value" && options.xAxis.max === data.to_s && id !== "plot-owners" ? "time" : "";
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
