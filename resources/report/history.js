// The plots of a history: a line a scenario, a point a run; or of many runs the median, in a band from the least to the most.
  const units = { duration: (v) => milliseconds(v / 1e6), rate: (v) => `${number(v)}/s`, size: bytes, count: number };
  const several = data.runs_a_point > 1;
  // Two lines that nobody sees, one on the other; what is between them is coloured.
  const band = (one, index) => [2, 3].map((end) => ({
    name: "", type: "line", stack: `band ${index}`, silent: true, symbol: "none", tooltip: { show: false }, z: 1, lineStyle: { opacity: 0 },
    data: one.points.map((p) => [p[0], p[end] === null ? null : p[end] - (end === 3 ? p[2] : 0)]),
    areaStyle: end === 3 ? { color: series(index), opacity: 0.16 } : undefined,
  }));
  const plots = Object.fromEntries(Object.entries(data.trends).map(([name, trend]) => [`plot-${name}`, () => {
    const format = units[trend.unit];
    const told = (p) => (several ? `${format(p[1])} (${format(p[2])} to ${format(p[3])})` : format(p[1]));
    return withTooltip(frame({
      xAxis: category(data.names, { axisLabel: { ...text(), hideOverlap: true, formatter: (v) => tail(v.split(" to ")[0], 14) }, boundaryGap: true }),
      yAxis: value(format, { min: 0 }),
      series: trend.lines.flatMap((one, index) => [
        line(one.name, one.points, index, several ? {} : { showSymbol: true, symbol: "circle", symbolSize: 5 }),
        ...(several ? band(one, index) : []),
      ]),
    }), {
      formatter: (items) => {
        const known = items.filter((item) => item.seriesName && item.value[1] !== null);
        return items.length ? `<b>${plain(data.names[items[0].value[0]])}</b>${table(known.map((item) => row(item.color, item.seriesName, told(item.value))))}` : "";
      },
    });
  }]));
