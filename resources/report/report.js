// The plots of the report of one session.
  const bucketNames = () => Array.from({ length: data.buckets }, (_, index) => clock(data.from_s + index * data.width_s, digitsOf(step() ?? 1)));
  const laneNames = ["Rebalances", "Faults, actions", "Dead letters"]; // alerts are among the faults
  const plots = {
    // The session on one time axis: how much came in, how far readers were behind, and below it what happened when.
    "plot-overview": () => {
      const { published, lag, waiting, dead } = data.overview;
      const behind = [["Lag", lag, "warn"], ["Waiting in queues", waiting, "waiting"]].filter(([, values]) => values.some(Boolean));
      const most = Math.max(1, ...dead);
      const lane = (params, api) => {
        const [from, y] = api.coord([api.value(0), api.value(2)]), [to] = api.coord([api.value(1), api.value(2)]), height = Math.min(12, api.size([0, 1])[1] * 0.66);
        const kind = api.value(3), strength = api.value(4);
        return { type: "rect", shape: { x: from - (kind ? 1 : 0), y: y - height / 2, width: Math.max(kind === 1 ? 3 : 2, to - from), height, r: 2 }, style: { fill: colour(["band-ink", "accent", "bad"][kind]), opacity: kind === 2 ? 0.35 + 0.65 * strength : 0.9 } };
      };
      const spans = [
        ...data.rebalances.map((one) => [one.from, one.to, 0, 0, 1]), ...data.markers.map((one) => [one.at, one.at, 1, 1, 1]),
        ...dead.map((count, index) => (count ? [data.from_s + index * data.width_s, data.from_s + (index + 1) * data.width_s, 2, 2, count / most] : null)).filter(Boolean),
      ];
      const at = (seconds) => Math.min(data.buckets - 1, Math.max(0, Math.floor((seconds - data.from_s) / data.width_s)));
      const sides = { left: 100, right: behind.length ? 46 : 16, outerBoundsMode: "none" };
      const grids = [{ ...sides, top: 30, bottom: 72 }, { ...sides, height: 45, bottom: 18 }];
      const lanes = { type: "category", data: laneNames, gridIndex: 1, inverse: true, axisLine: { show: false }, axisTick: { show: false }, splitArea: { show: false }, axisLabel: { ...text(), fontSize: 11 } };
      return withTooltip(frame({
        grid: grids,
        xAxis: [time({ axisLabel: { show: false }, axisTick: { show: false } }), time({ gridIndex: 1 })],
        yAxis: [value((v) => `${number(v)}/s`, { splitNumber: 3 }), value(number, { show: behind.length > 0, splitNumber: 3, splitLine: { show: false } }), lanes],
        series: [
          context(false), line("Published", points(published), 0, { areaStyle: { opacity: 0.14, color: series(0) } }),
          ...behind.map(([name, values, paint]) => line(name, points(values), 0, { yAxisIndex: 1, lineStyle: { width: 1.7, color: colour(paint) }, itemStyle: { color: colour(paint) } })),
          { type: "custom", name: "", xAxisIndex: 1, yAxisIndex: 2, renderItem: lane, data: spans, encode: { x: [0, 1], y: 2 }, silent: true, clip: true },
        ],
      }), {
        formatter: (items) => {
          if (!items.length) return "";
          const place = at(items[0].axisValue), from = data.from_s + place * data.width_s;
          const rows = [row(series(0), "Published", `${number(published[place])}/s`), ...behind.map(([name, values, paint]) => row(colour(paint), name, number(values[place]))), ...(dead[place] ? [row(colour("bad"), "Dead letters", number(dead[place]))] : [])];
          return `<b>${clock(from)}</b> to ${clock(from + data.width_s)}${table(rows)}${happened(from, from + data.width_s)}`;
        },
      });
    },
    "plot-throughput": () => {
      const by = chosen["plot-throughput"]?.By ?? "topic", unit = chosen["plot-throughput"]?.Unit ?? "messages";
      const format = unit === "bytes" ? (v) => `${bytes(v)}/s` : (v) => `${number(v)}/s`;
      const found = data.throughput[by];
      return withTooltip(frame({
        xAxis: time(), yAxis: value(format),
        series: [context(), ...found.map((one) => line(one.name, points(one[unit]), one.hue, {
          stack: "all", ...(found.length > 1
            ? { areaStyle: { opacity: 0.82, color: series(one.hue) }, lineStyle: { width: 0.6, color: colour("card") } }
            : { areaStyle: { opacity: 0.16, color: series(one.hue) } }),
        }))],
      }), overTime(format));
    },
    "plot-latency": () => {
      const found = data.latency_over_time[chosen["plot-latency"]?.Until ?? "delivered"] ?? [];
      const scale = decades(found.flatMap((r) => r.slice(1)));
      const names = ["p50", "p90", "p99", "p99.9", "maximum"];
      return withTooltip(frame({
        xAxis: time(), yAxis: value(milliseconds, scale.axis),
        series: [context(), ...names.map((name, index) => line(name,
          found.map((r) => scale.at(Math.min(r[0] + data.width_s / 2, data.to_s), r[index + 1])), index,
          { connectNulls: false, showSymbol: index === 4, symbol: "circle", symbolSize: 3.5, lineStyle: { width: index === 4 ? 0 : 1.8, color: series(index) }, itemStyle: { color: series(index) } }))],
      }), overTime(milliseconds));
    },
    "plot-heat": () => {
      const heat = data.latency_heat[chosen["plot-latency"]?.Until ?? "delivered"] ?? { cells: [], labels: [], has_zero: false };
      const labels = heat.labels.map((ms, index) => (heat.has_zero && index === 0 ? 0 : ms));
      const names = bucketNames();
      const most = Math.max(1, ...heat.cells.map((cell) => cell[2]));
      heatScale("plot-heat", "1", `${number(most)} messages`, [0, 1, 2, 3], true);
      const decade = (index) => heat.has_zero ? index === 0 || index > 1 && Math.abs(Math.log10(labels[index]) % 1) < 0.02 : Math.abs(Math.log10(labels[index]) % 1) < 0.02;
      return withTooltip(frame({
        legend: undefined, grid: { left: 8, right: 26, top: 12, bottom: 6, containLabel: true },
        xAxis: category(names, { axisLabel: { ...text(), interval: Math.max(0, Math.round((step() ?? 1) / data.width_s) * (narrow() ? 1 : 2) - 1) }, splitArea: { show: false } }),
        yAxis: category(labels.map(String), { axisLabel: { ...text(), interval: (index) => decade(index), formatter: (ms) => milliseconds(+(+ms).toPrecision(1)) } }),
        visualMap: { show: false, min: 0, max: Math.log10(most + 1), dimension: 3, inRange: { color: [0, 1, 2, 3].map((n) => colour(`heat${n}`)) } },
        series: [{ type: "heatmap", data: heat.cells.map((cell) => [...cell, Math.log10(cell[2] + 1)]), emphasis: { itemStyle: { borderColor: colour("ink"), borderWidth: 1 } } }],
      }), {
        trigger: "item",
        formatter: (item) => {
          const [x, y, count] = item.value, at = data.from_s + x * data.width_s;
          const words = heat.has_zero && y === 0 ? `below ${milliseconds(heat.at_once_ms)}` : `${milliseconds(labels[y])} to ${milliseconds(labels[y] * heat.row_ratio)}`;
          return `<b>${clock(at)}</b> to ${clock(at + data.width_s)}<br>${plain(words)}: <b>${number(count)}</b> messages${happened(at, at + data.width_s)}`;
        },
      });
    },
    "plot-curve": () => {
      const names = { delivered: "First delivery", acknowledged: "Acknowledged" };
      const scale = decades(Object.keys(names).flatMap((key) => data.latency_curve[key] ?? []).map((p) => p[1]));
      const percent = (v) => (v <= 1 ? "0" : `p${+(100 * (1 - 1 / v)).toFixed(Math.max(0, Math.round(Math.log10(v)) - 2))}`);
      return withTooltip(frame({
        grid: { left: 8, right: 26, top: 34, bottom: 6, containLabel: true },
        xAxis: value(percent, { type: "log", min: 1, axisLabel: { ...text(), formatter: percent, hideOverlap: true }, splitLine: { show: false }, axisLine: { lineStyle: { color: colour("line") } } }), yAxis: value(milliseconds, scale.axis),
        series: Object.keys(names).filter((key) => data.latency_curve[key]).map((key, index) =>
          line(names[key], data.latency_curve[key].map(([x, ms]) => scale.at(x, ms)), index, { step: "end" })),
      }), {
        formatter: (items) => `<b>p${+(100 * (1 - 1 / items[0].value[0])).toPrecision(5)}</b>${table(items.map((item) => row(item.color, item.seriesName, milliseconds(item.value[2]))))}`,
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
      const names = bucketNames();
      heatScale("plot-lag-heat", "0", `${number(Math.max(0, ...cells.map((cell) => cell[2])))} behind`, [0, 1, 2, 3], true);
      return withTooltip(frame({
        legend: undefined, grid: { left: 8, right: 26, top: 6, bottom: 6, containLabel: true },
        xAxis: category(names, { axisLabel: { ...text(), interval: Math.max(0, Math.round((step() ?? 1) / data.width_s) - 1) } }),
        yAxis: category(rows.map((one) => one.name), { axisLine: { show: false } }),
        visualMap: { show: false, min: 0, max: Math.max(0.3, ...cells.map((cell) => cell[3])), dimension: 3, inRange: { color: [0, 1, 2, 3].map((n) => colour(`heat${n}`)) } },
        series: [{ type: "heatmap", data: cells, itemStyle: { borderColor: colour("card"), borderWidth: 0 } }],
      }), {
        trigger: "item",
        formatter: (item) => `<b>${plain(rows[item.value[1]].name)}</b><br>${clock(data.from_s + item.value[0] * data.width_s)}: <b>${number(item.value[2])}</b> messages behind${happened(data.from_s + item.value[0] * data.width_s, data.from_s + (item.value[0] + 1) * data.width_s)}`,
      });
    },
    "plot-owners": (box) => {
      const { rows, clients, spans, groups, hues: numbers } = data.ownership;
      box.style.height = `${rows.length * 27 + 44}px`;
      const bar = (params, api) => {
        const left = api.coord([api.value(1), api.value(0)]), right = api.coord([api.value(2), api.value(0)]);
        const height = Math.min(19, api.size([0, 1])[1] * 0.74), width = Math.max(1.5, right[0] - left[0] - 1);
        const name = clients[api.value(3)], room = Math.floor(width / 7.2);
        return {
          type: "group",
          children: [
            { type: "rect", shape: { x: left[0], y: left[1] - height / 2, width, height, r: 4 }, style: { fill: series(numbers[api.value(3)]) } },
            { type: "text", silent: true, x: left[0] + 8, y: left[1], style: { text: room > 4 ? short(name, room - 1) : "", fill: inkOn(numbers[api.value(3)]), fontSize: 11.5, fontWeight: 600, fontFamily: font, textVerticalAlign: "middle" } },
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
          { type: "custom", renderItem: bar, data: spans, encode: { x: [1, 2], y: 0 }, tooltip: { formatter: (item) => { const [y, from, to, client, generation] = item.value; return `<b>${plain(rows[y])}</b><br>${swatch(series(numbers[client]))}${plain(clients[client])}, generation ${number(generation)}<br>${clock(from, 1)} to ${clock(to, 1)}`; } } },
        ],
      }), { trigger: "item" });
    },
    "plot-busy": (box) => {
      const rows = data.busy;
      box.style.height = `${Math.max(120, rows.length * 24 + 46)}px`;
      const names = bucketNames();
      heatScale("plot-busy", "idle", "busy all the time", [0, 1, 2], false);
      const cells = rows.flatMap((one, y) => one.busy.map((v, x) => [x, rows.length - 1 - y, v]));
      return withTooltip(frame({
        legend: undefined, grid: { left: 8, right: 26, top: 6, bottom: 6, containLabel: true },
        xAxis: category(names, { axisLabel: { ...text(), interval: Math.max(0, Math.round((step() ?? 1) / data.width_s) - 1) } }),
        yAxis: category(rows.map((one) => one.name).reverse(), { axisLine: { show: false } }),
        visualMap: { show: false, min: 0, max: 1, dimension: 2, inRange: { color: [0, 1, 2].map((n) => colour(`heat${n}`)) } },
        series: [{ type: "heatmap", data: cells, itemStyle: { borderWidth: 0 } }],
      }), {
        trigger: "item",
        formatter: (item) => {
          const one = rows[rows.length - 1 - item.value[1]], at = data.from_s + item.value[0] * data.width_s;
          return `<b>${plain(one.name)}</b><br>${clock(at)} to ${clock(at + data.width_s)}: busy <b>${share(item.value[2])}</b>, ${number(one.in_hand[item.value[0]])} in hand${happened(at, at + data.width_s)}`;
        },
      });
    },
    "plot-queues": () => withTooltip(frame({
      xAxis: time(), yAxis: value(number),
      series: [context(), ...data.queues.flatMap((queue) => [
        line(`${queue.name}, waiting`, points(queue.waiting), queue.hue, { areaStyle: { opacity: 0.16 } }), line(`${queue.name}, in flight`, points(queue.in_flight), queue.hue, { lineStyle: { width: 1.4, type: [5, 4], color: series(queue.hue) } }),
      ])],
    }), overTime(number)),
    "plot-attempts": (box) => bars(box, data.attempts.map((one) => one.name), [["Acknowledged", "acknowledged", "good"], ["Refused", "nacked", "bad"], ["Lease expired", "lease_expired", "warn"], ["Released", "released", "faint"]]
      .map(([name, key, paint]) => [name, data.attempts.map((one) => one[key]), paint])),
    "plot-dead": (box) => bars(box, data.dead_letters.map((one) => `${one.cause} (${one.group})`), [
      ["Redriven", data.dead_letters.map((one) => one.redriven), "good"], ["Still dead", data.dead_letters.map((one) => one.dead - one.redriven), "bad"]]),
    "plot-pressure": () => {
      const turnedAway = data.backpressure.flatMap((one) => [["rejected", one.rejected, "bad"], ["dropped", one.dropped, "warn"]].filter(([, values]) => values.some(Boolean)).map(([word, values, paint]) => [`${one.name}, ${word}`, values, paint]));
      const blocked = data.backpressure.filter((one) => one.blocked.some(Boolean));
      const most = Math.max(0, ...blocked.flatMap((one) => one.blocked));
      const format = (v, name) => (blocked.some((one) => `${one.name}, blocked` === name) ? share(v) : number(v));
      return withTooltip(frame({
        grid: { left: 8, right: turnedAway.length ? 8 : 26, top: 34, bottom: 6, containLabel: true },
        xAxis: time(), yAxis: [value((v) => share(v), most > 1 ? { min: 0 } : { min: 0, max: 1, interval: 0.25 }), value(number, { show: turnedAway.length > 0, splitLine: { show: false } })],
        series: [context(), ...blocked.map((one) => line(`${one.name}, blocked`, points(one.blocked), one.hue, { step: "middle", areaStyle: { opacity: 0.13 }, lineStyle: { width: 1.2, color: series(one.hue) } })),
          ...turnedAway.map(([name, values, paint]) => ({ name, type: "bar", stack: "turned away", z: 3, yAxisIndex: 1, data: points(values), barMaxWidth: 7, itemStyle: { color: colour(paint), borderRadius: [2, 2, 0, 0] } }))],
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
        series: [{ name: "Messages", type: "bar", barMaxWidth: 46, data: topics.flatMap((one) => one.messages).map((v, index) => ({ value: v, itemStyle: { color: v > 1.5 * even[index] ? colour("warn") : colour("accent"), borderRadius: [4, 4, 0, 0] } })) },
          { name: "Even share", type: "line", step: "middle", data: even, symbol: "none", lineStyle: { color: colour("soft"), width: 1.2, type: [4, 4] } }],
      }), { axisPointer: { type: "none" }, formatter: (items) => { const at = items[0].dataIndex; return `<b>${plain(names[at])}</b>${table([row(items[0].color, "Messages", number(items[0].value)), row("transparent", "Share of the topic", share(shares[at])), row("transparent", "An even share", number(even[at]))])}`; } });
    },
  };
