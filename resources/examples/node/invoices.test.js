// npm test runs this beside a fresh broker; see package.json.
const assert = require("node:assert");
const { test } = require("node:test");
const { Kafka, logLevel } = require("kafkajs");
const { start } = require("./invoices.js");

const brokers = process.env.KAFKA_BOOTSTRAP_SERVERS.split(",");

async function ask(method, path, body) {
  const answer = await fetch(`${process.env.BROKERSCOPE_URL}${path}`, {
    method,
    headers: { "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  assert.ok(answer.ok, await answer.clone().text());
  return answer.status === 204 ? null : answer.json();
}

// Until a group, topic or event fits; the broker answers as soon as it does.
async function until(condition) {
  const found = await ask("POST", "/v1/wait", { condition, timeout_ms: 30_000 });
  assert.ok(found.holds, found.what);
}

async function order(...orders) {
  const producer = new Kafka({ clientId: "test", brokers, logLevel: logLevel.ERROR }).producer();
  await producer.connect();
  await producer.send({ topic: "orders", messages: orders.map((each) => ({ value: JSON.stringify(each) })) });
  await producer.disconnect();
}

test("each order has its invoice, although the leader moves", async () => {
  // Of Produce, the first two requests for invoices are told that the leader is another one.
  await ask("POST", "/v1/faults", {
    effect: "error", api: "Produce", topic: "invoices", error: "NOT_LEADER_OR_FOLLOWER", times: 2,
  });
  const stop = await start(brokers);
  try {
    await order({ id: 1, price: 5, pieces: 2 }, { id: 2, price: 7, pieces: 1 }, { id: 3, price: 1, pieces: 9 });
    await until("topic = invoices and messages = 3");
    await until('group = "invoicing" and lag = 0');
  } finally {
    await stop();
  }
});
