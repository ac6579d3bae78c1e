// Reads orders, and publishes an invoice for each. node invoices.js runs it until SIGTERM.
const { Kafka, logLevel } = require("kafkajs");

async function start(brokers) {
  const kafka = new Kafka({ clientId: "invoices", brokers, logLevel: logLevel.ERROR, retry: { initialRetryTime: 50 } });
  const producer = kafka.producer({ idempotent: true });
  const consumer = kafka.consumer({ groupId: "invoicing" });
  await producer.connect();
  await consumer.connect();
  await consumer.subscribe({ topic: "orders", fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      const order = JSON.parse(message.value.toString());
      const invoice = { order: order.id, total: order.price * order.pieces };
      await producer.send({ topic: "invoices", messages: [{ key: message.key, value: JSON.stringify(invoice) }] });
    },
  });
  return async () => {
    await consumer.disconnect();
    await producer.disconnect();
  };
}

module.exports = { start };

if (require.main === module) {
  start(process.env.KAFKA_BOOTSTRAP_SERVERS.split(",")).then((stop) => process.once("SIGTERM", stop));
}
