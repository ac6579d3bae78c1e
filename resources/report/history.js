// The plots of a history: a line a scenario, a point a run.
  const units = { duration: (v) => milliseconds(v / 1e6), rate: (v) => `${number(v)}/s`, size: bytes, count: number };
  const plots = Object.fromEntries(Object.entries(data.trends).map(([name, trend]) => [`plot-${name}`, () => {
    const format = units[trend.unit];
    return withTooltip(frame({
      xAxis: category(data.names, { axisLabel: { ...text(), hideOverlap: true, formatter: (v) => tail(v, 14) }, boundaryGap: true }),
      yAxis: value(format, { min: 0 }),
      series: trend.lines.map((one, index) => line(one.name, one.points, index, { showSymbol: true, symbol: "circle", symbolSize: 5 })),
    }), {
      formatter: (items) => `<b>${plain(data.names[items[0].value[0]])}</b>${table(items.filter((item) => item.value[1] !== null).map((item) => row(item.color, item.seriesName, format(item.value[1]))))}`,
    });
  }]));
