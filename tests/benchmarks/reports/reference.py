"""The tables of a report asked of DuckDB in plain SQL, as somebody would who had no Spark."""

# ruff: noqa: E501 (queries are easier to read in long lines)
from __future__ import annotations

import time
from pathlib import Path

import duckdb

BUCKETS = 240

#: By table of the report; {w} is the width of a time bucket.
QUERIES = {
    "totals": "SELECT kind, sum(count), sum(CASE WHEN attempt > 1 THEN count END), count(*) FROM messages GROUP BY kind",
    "throughput": """SELECT topic, partition, CASE kind WHEN 'published' THEN 'in' ELSE client END, time_ns // {w}, sum(count), sum(size_bytes)
        FROM messages WHERE kind IN ('published', 'delivered') GROUP BY ALL""",
    "latency": """SELECT kind, "group", topic, count(*), avg(d), approx_quantile(d, [0.5, 0.9, 0.99, 0.999]), max(d) FROM (SELECT *, time_ns - published_ns AS d
        FROM messages WHERE kind = 'acknowledged' OR kind = 'delivered' AND attempt = 1) GROUP BY GROUPING SETS ((kind), (kind, "group", topic))""",
    "latency_over_time": """SELECT kind, time_ns // {w}, approx_quantile(time_ns - published_ns, [0.5, 0.9, 0.99, 0.999]), max(time_ns - published_ns)
        FROM messages WHERE kind = 'acknowledged' OR kind = 'delivered' AND attempt = 1 GROUP BY ALL""",
    "latency_heat": """SELECT kind, time_ns // {w}, floor(8 * log10(greatest(time_ns - published_ns, 1))), sum(count)
        FROM messages WHERE kind = 'acknowledged' OR kind = 'delivered' AND attempt = 1 GROUP BY ALL""",
    "latency_curve": """SELECT kind, b, n, sum(n) OVER (PARTITION BY kind ORDER BY b) FROM (SELECT kind, floor(ln(greatest(time_ns - published_ns, 1)) / ln(1.01)) AS b, sum(count) AS n
        FROM messages WHERE kind = 'acknowledged' OR kind = 'delivered' AND attempt = 1 GROUP BY ALL)""",
    "lag": """WITH c AS (SELECT "group" g, topic, partition, time_ns // {w} AS b, max("offset" + count) AS done FROM messages WHERE kind = 'acknowledged' AND "group" <> topic GROUP BY ALL),
        p AS (SELECT topic, partition, time_ns // {w} AS b, max("offset" + count) AS stored FROM messages WHERE kind = 'published' GROUP BY ALL),
        cells AS (SELECT DISTINCT g, topic, partition, n.range AS b FROM c, range({buckets}) n)
        SELECT g, topic, partition, b, max(stored) OVER w, max(done) OVER w FROM cells LEFT JOIN c USING (g, topic, partition, b) LEFT JOIN p USING (topic, partition, b)
        WINDOW w AS (PARTITION BY g, topic, partition ORDER BY b)""",
    "queues": """SELECT topic, time_ns // {w} AS b, sum(sum(CASE WHEN kind = 'published' THEN count WHEN kind IN ('acknowledged', 'dead_lettered') THEN -count ELSE 0 END)) OVER (PARTITION BY topic ORDER BY time_ns // {w}),
        sum(sum(CASE WHEN kind = 'delivered' THEN count WHEN kind IN ('acknowledged', 'nacked', 'released', 'lease_expired') THEN -count ELSE 0 END)) OVER (PARTITION BY topic ORDER BY time_ns // {w})
        FROM messages WHERE topic IN (SELECT DISTINCT topic FROM messages WHERE "group" = topic) GROUP BY topic, b, time_ns // {w}""",
    "redeliveries": """SELECT "group", topic, attempt, kind, sum(count) FROM messages WHERE "group" <> '' GROUP BY ALL""",
    "dead_letter_list": """SELECT d.*, r.time_ns, e.kind FROM messages d LEFT JOIN messages r ON r.kind = 'redriven' AND r.topic = d.to_topic AND r."offset" = d.to_offset
        LEFT JOIN messages e ON e.kind IN ('acknowledged', 'dead_lettered') AND e.topic = r.to_topic AND e."offset" = r.to_offset WHERE d.kind = 'dead_lettered' ORDER BY d.seq LIMIT 500""",
    "dead_letters": """SELECT "group", cause, key, count(*), min(time_ns) FROM messages WHERE kind = 'dead_lettered' GROUP BY GROUPING SETS (("group", cause), ("group", key))""",
    "hot_keys": """SELECT topic, key, partition, sum(count), sum(size_bytes) FROM messages WHERE kind = 'published' AND key IS NOT NULL GROUP BY topic, key, partition
        QUALIFY row_number() OVER (PARTITION BY topic ORDER BY sum(count) DESC) <= 10""",
    "partitions": "SELECT topic, partition, sum(count), sum(sum(count)) OVER (PARTITION BY topic) FROM messages WHERE kind = 'published' GROUP BY topic, partition",
    "backpressure": "SELECT *, lead(time_ns) OVER (PARTITION BY topic, client ORDER BY seq) FROM control WHERE kind LIKE 'producer_%'",
    "backpressure_series": "SELECT topic, client, kind, cause, sum(count) FROM messages WHERE kind IN ('rejected', 'dropped', 'evicted', 'expired') GROUP BY ALL",
    "rebalances": "SELECT * FROM control WHERE kind LIKE 'rebalance_%' ORDER BY seq",
    "ownership": """SELECT "group", client, p, time_ns, lead(time_ns) OVER (PARTITION BY "group", p ORDER BY seq) FROM
        (SELECT *, unnest(json_extract(detail, '$.partitions[*]'))::VARCHAR AS p FROM control WHERE kind IN ('partitions_assigned', 'partitions_revoked'))""",
    "unserved": """SELECT c.seq, m.topic, m.partition, sum(m.count) FROM control c JOIN messages m ON m.kind = 'published' AND m.time_ns BETWEEN c.time_ns AND c.time_ns + 3000000000
        WHERE c.kind = 'partitions_revoked' GROUP BY ALL""",
    "consumers": """SELECT "group", client, sum(CASE WHEN open > 0 THEN following - time_ns END) AS busy FROM (SELECT "group", client, time_ns, lead(time_ns) OVER w AS following,
        sum(CASE WHEN kind = 'delivered' THEN count ELSE -count END) OVER w AS open FROM messages WHERE kind IN ('delivered', 'acknowledged', 'nacked', 'released', 'lease_expired')
        WINDOW w AS (PARTITION BY "group", client ORDER BY seq)) GROUP BY ALL""",
    "audit: twice": """SELECT "group", topic, partition, count(*) FROM (SELECT "group", topic, partition, "offset", count(*) AS n FROM messages
        WHERE kind = 'delivered' AND attempt = 1 GROUP BY ALL HAVING n > 1) GROUP BY ALL""",
    "audit: finished": """SELECT "group", topic, partition, count(*) FROM (SELECT "group", topic, partition, "offset", count(*) AS n FROM messages
        WHERE kind IN ('acknowledged', 'dead_lettered', 'expired', 'evicted', 'purged') GROUP BY ALL HAVING n > 1) GROUP BY ALL""",
    "audit: lost": """SELECT topic, partition, max("offset" + count) - min("offset") - sum(count), count(DISTINCT "offset") FROM messages WHERE kind = 'published' GROUP BY ALL""",
    "audit: never": """SELECT count(*) FROM (SELECT "group", topic, partition, "offset" FROM messages WHERE kind IN ('acknowledged', 'dead_lettered')) a
        ANTI JOIN (SELECT "group", topic, partition, "offset" FROM messages WHERE kind = 'delivered') d USING ("group", topic, partition, "offset")""",
    "audit: reordered": """SELECT "group", topic, partition, count(*) FROM (SELECT *, max("offset" + count) OVER (PARTITION BY "group", topic, partition ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached FROM messages WHERE kind = 'delivered' AND attempt = 1) WHERE "offset" < reached GROUP BY ALL""",
    "audit: skipped": """WITH reach AS (SELECT "group", topic, partition, max("offset") AS last FROM messages WHERE kind = 'delivered' GROUP BY ALL)
        SELECT count(*) FROM (SELECT reach."group", topic, partition, p."offset" FROM messages p JOIN reach USING (topic, partition) WHERE p.kind = 'published' AND p."offset" < last)
        ANTI JOIN (SELECT "group", topic, partition, "offset" FROM messages WHERE kind = 'delivered') d USING ("group", topic, partition, "offset")""",
    "audit list": """WITH suspects AS (SELECT "group", topic, partition, "offset" FROM messages WHERE kind = 'delivered' AND attempt = 1 GROUP BY ALL HAVING count(*) > 1
        UNION ALL SELECT "group", topic, partition, "offset" FROM messages WHERE kind IN ('acknowledged', 'dead_lettered', 'expired', 'evicted', 'purged') GROUP BY ALL HAVING count(*) > 1 LIMIT 500)
        SELECT s.*, list(m.kind || ' ' || m.client || ' ' || m.time_ns ORDER BY m.seq) FROM suspects s JOIN messages m USING (topic, partition, "offset") WHERE m.kind = 'published' OR m."group" = s."group" GROUP BY ALL""",
    "groups": """WITH counted AS (SELECT "group" g, sum(CASE WHEN kind = 'delivered' THEN count END) delivered, sum(CASE WHEN kind = 'acknowledged' THEN count END) acknowledged,
            sum(CASE WHEN kind = 'delivered' AND attempt > 1 THEN count END) repeated, sum(CASE WHEN kind = 'dead_lettered' THEN count END) dead, count(DISTINCT client) clients,
            approx_quantile(CASE WHEN kind = 'delivered' AND attempt = 1 THEN time_ns - published_ns END, [0.5, 0.99]), max(CASE WHEN kind = 'delivered' AND attempt = 1 THEN time_ns - published_ns END)
            FROM messages WHERE "group" <> '' GROUP BY g),
        moves AS (SELECT "group" g, count(*) rebalances FROM control WHERE kind = 'rebalance_started' GROUP BY g) SELECT * FROM counted LEFT JOIN moves USING (g) ORDER BY delivered DESC""",
    "consumers over time": """SELECT "group", client, time_ns // {w}, sum(CASE WHEN open > 0 THEN following - time_ns END) FROM (SELECT "group", client, time_ns, lead(time_ns) OVER w AS following,
        sum(CASE WHEN kind = 'delivered' THEN count ELSE -count END) OVER w AS open FROM messages WHERE kind IN ('delivered', 'acknowledged', 'nacked', 'released', 'lease_expired')
        WINDOW w AS (PARTITION BY "group", client ORDER BY seq)) GROUP BY ALL""",
    "leases": """SELECT "group", client, kind, sum(count), sum(count * (time_ns - published_ns)) FROM messages WHERE "group" = topic
        AND kind IN ('delivered', 'acknowledged', 'nacked', 'released', 'lease_expired', 'lease_extended') GROUP BY ALL""",
    "blockers": """WITH waits AS (SELECT topic, client, regexp_replace(cause, '[0-9]+', 'n', 'g') reason, kind, lead(time_ns) OVER (PARTITION BY topic, client ORDER BY seq) - time_ns AS blocked
            FROM control WHERE kind LIKE 'producer_%'),
        lost AS (SELECT topic, client, regexp_replace(cause, '[0-9]+', 'n', 'g') reason, kind, sum(count) n FROM messages WHERE kind IN ('rejected', 'dropped', 'evicted') GROUP BY ALL)
        SELECT topic, client, reason, sum(blocked), max(blocked), sum(n) FROM waits FULL JOIN lost USING (topic, client, reason) GROUP BY ALL""",
    "refusals": """SELECT topic, regexp_extract(cause, '^schema (\\S+) refused', 1), cause, kind, sum(count), count(DISTINCT client), min(time_ns), max(time_ns) FROM messages
        WHERE kind IN ('rejected', 'dead_lettered') AND cause LIKE 'schema %' GROUP BY ALL""",
    "recording gaps": """SELECT seq, following FROM (SELECT seq, lead(seq) OVER (ORDER BY seq) AS following FROM (SELECT seq FROM messages UNION ALL SELECT seq FROM control)) WHERE following <> seq + 1""",
    "recording": "SELECT max(seq) - min(seq) + 1 - count(*) FROM (SELECT seq FROM messages UNION ALL SELECT seq FROM control)",
    "markers": "SELECT * FROM control WHERE kind IN ('fault', 'user_action', 'damage', 'offsets_reset', 'client_stopped', 'member_left') ORDER BY seq",
}


def ask(session: Path, width_ns: int, threads: int) -> dict[str, float]:
    """Ask every query of the files of `session`; the seconds that each took."""
    connection = duckdb.connect(config={"threads": threads})
    connection.execute("SET enable_progress_bar = false")
    for name in ("messages", "control"):
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{session / name}/*.parquet')")
    took = {}
    for name, query in QUERIES.items():
        begun = time.perf_counter()
        connection.execute(query.replace("{w}", str(width_ns)).replace("{buckets}", str(BUCKETS))).fetchall()
        took[name] = time.perf_counter() - begun
    return took
