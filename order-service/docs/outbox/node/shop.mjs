// node shop.mjs create ORDER SECONDS_TO_PAY | pay ORDER PAYMENT | run
import { Kafka, Partitioners, logLevel } from 'kafkajs';
import pg from 'pg';

const { DATABASE_URL, KAFKA = 'localhost:9092', TOPIC_PREFIX = '' } = process.env;
const BATCH = 500;
const IDLE_MILLIS = 100;

const database = new pg.Pool({ connectionString: DATABASE_URL });
const kafka = new Kafka({ brokers: [KAFKA], logLevel: logLevel.WARN });

/** Runs the work in one transaction. */
async function inTransaction(work) {
  const client = await database.connect();
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

function addEvent(client, topic, event) {
  return client.query(
    'insert into outbox (topic, order_id, event) values ($1, $2, $3)',
    [TOPIC_PREFIX + topic, event.orderId, event],
  );
}

function createOrder(orderId, secondsToPay) {
  return inTransaction(async (client) => {
    await client.query('insert into shop_order (id) values ($1)', [orderId]);
    await addEvent(client, 'order-created', {
      orderId, createdAt: new Date().toISOString(), timeout: `PT${secondsToPay}S`,
    });
  });
}

function payOrder(orderId, paymentId) {
  return inTransaction(async (client) => {
    await client.query(
      "update shop_order set state = 'PAID', payment_id = $2 where id = $1 and state = 'PENDING'", [orderId, paymentId]);
    // Also for an order that is cancelled: it becomes an order-payment-conflict, and somebody refunds it.
    await addEvent(client, 'order-paid', { orderId, paymentId, paidAt: new Date().toISOString() });
  });
}

/** Sends the next events and deletes them once Kafka has acknowledged all. Returns how many. */
function relay(producer) {
  return inTransaction(async (client) => {
    // The lock keeps another relay from sending a later event of the same order first.
    await client.query('lock table outbox in share update exclusive mode');
    const { rows } = await client.query('select * from outbox order by position limit $1', [BATCH]);
    const topics = new Map();
    for (const { topic, order_id: key, event } of rows) {
      topics.set(topic, [...(topics.get(topic) ?? []), { key, value: JSON.stringify(event) }]);
    }
    await producer.sendBatch({
      acks: -1, topicMessages: [...topics].map(([topic, messages]) => ({ topic, messages })),
    });
    await client.query('delete from outbox where position = any($1)', [rows.map(({ position }) => position)]);
    return rows.length;
  });
}

async function relayForever() {
  // Partitions like Kafka's Java client: all events of an order are in partitions of the same number.
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner, idempotent: true });
  await producer.connect();
  for (;;) {
    try {
      if (await relay(producer) > 0) {
        continue;
      }
    } catch (error) {
      console.error('The outbox waits:', error.message);
    }
    await new Promise((resolve) => setTimeout(resolve, IDLE_MILLIS));
  }
}

/** Applies cancellations. One that comes twice changes nothing. */
async function followCancellations() {
  const consumer = kafka.consumer({ groupId: `${TOPIC_PREFIX}shop` });
  await consumer.connect();
  await consumer.subscribe({ topic: `${TOPIC_PREFIX}order-cancelled`, fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      const { orderId } = JSON.parse(message.value);
      await database.query("update shop_order set state = 'CANCELLED' where id = $1 and state = 'PENDING'", [orderId]);
    },
  });
}

const [command, orderId, value] = process.argv.slice(2);
if (command === 'create') {
  await createOrder(orderId, value);
  await database.end();
} else if (command === 'pay') {
  await payOrder(orderId, value);
  await database.end();
} else {
  await followCancellations();
  await relayForever();
}
