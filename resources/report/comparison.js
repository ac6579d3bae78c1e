// The plots of a comparison: a line a session.
  // Earlier lines are broader, so that one that lies under another still shows at its sides; the first is dashed, and on top.
  const isDashed = (index) => index === 0 && data.sessions.length > 1;
  const dimmed = (index) => ({
    z: index === 0 ? 4 : 2,
    lineStyle: { width: index === 0 ? 1.8 : 1.8 + 2 * (data.sessions.length - 1 - index), color: series(index), type: isDashed(index) ? [6, 3] : "solid" },
  });
  // The legend's sign is a line as in the plot: dashes are a path of their own there.
  const compared = (more) => {
    const options = frame(more);
    const names = data.sessions.map((one, index) => ({ name: one.name, icon: isDashed(index) ? "path://M0 0h5v4h-5zM8 0h5v4h-5zM16 0h5v4h-5z" : "roundRect" }));
    return { ...options, legend: { ...options.legend, itemWidth: 21, data: names } };
  };
  const each = (key, format, scale) => withTooltip(compared({
    xAxis: time(), yAxis: scale ? value(format, scale.axis) : value(format),
    series: data.sessions.map((one, index) => line(one.name, scale ? one[key].map(([x, v]) => scale.at(x, v)) : one[key], index, dimmed(index))),
  }), {
    formatter: (items) => `<b>${clock(items[0].value[0], 1)}</b>${table(items.filter((item) => item.value[1] !== null).map((item) => row(item.color, item.seriesName, format(item.value[2] ?? item.value[1]))))}`,
  });
  const plots = {
    "plot-rate": () => each(chosen["plot-rate"]?.Of ?? "published", (v) => `${number(v)}/s`),
    "plot-latency": () => {
      const key = chosen["plot-latency"]?.Percentile ?? "p99";
      return each(key, milliseconds, decades(data.sessions.flatMap((one) => one[key].map((p) => p[1]))));
    },
    "plot-lag": () => each(chosen["plot-lag"]?.Of ?? data.backlog, number),
    "plot-curve": () => {
      const scale = decades(data.sessions.flatMap((one) => one.curve.map((p) => p[1])));
      const percent = (v) => (v <= 1 ? "0" : `p${+(100 * (1 - 1 / v)).toFixed(Math.max(0, Math.round(Math.log10(v)) - 2))}`);
      return withTooltip(compared({
        xAxis: value(percent, { type: "log", min: 1, splitLine: { show: false }, axisLine: { lineStyle: { color: colour("line") } } }), yAxis: value(milliseconds, scale.axis),
        series: data.sessions.map((one, index) => line(one.name, one.curve.map(([x, ms]) => scale.at(x, ms)), index, { step: "end", ...dimmed(index) })),
      }), {
        formatter: (items) => `<b>p${+(100 * (1 - 1 / items[0].value[0])).toPrecision(5)}</b>${table(items.map((item) => row(item.color, item.seriesName, milliseconds(item.value[2]))))}`,
      });
    },
  };
