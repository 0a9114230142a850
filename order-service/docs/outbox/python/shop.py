"""python3 shop.py create ORDER SECONDS_TO_PAY | pay ORDER PAYMENT | run

Needs psycopg2 and confluent-kafka.
"""

import json
import os
import sys
import threading
import time
from datetime import datetime, timezone

import psycopg2
from confluent_kafka import Consumer, Producer
from psycopg2.extras import Json

DATABASE_URL = os.environ["DATABASE_URL"]
KAFKA = os.environ.get("KAFKA", "localhost:9092")
TOPIC_PREFIX = os.environ.get("TOPIC_PREFIX", "")
BATCH = 500
IDLE_SECONDS = 0.1


def now():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def add_event(cursor, topic, event):
    cursor.execute(
        "insert into outbox (topic, order_id, event) values (%s, %s, %s)",
        (TOPIC_PREFIX + topic, event["orderId"], Json(event)),
    )


def create_order(connection, order_id, seconds_to_pay):
    with connection, connection.cursor() as cursor:  # one transaction
        cursor.execute("insert into shop_order (id) values (%s)", (order_id,))
        add_event(
            cursor, "order-created", {"orderId": order_id, "createdAt": now(), "timeout": f"PT{seconds_to_pay}S"}
        )


def pay_order(connection, order_id, payment_id):
    with connection, connection.cursor() as cursor:
        cursor.execute(
            "update shop_order set state = 'PAID', payment_id = %s where id = %s and state = 'PENDING'",
            (payment_id, order_id),
        )
        # Also for an order that is cancelled: it becomes an order-payment-conflict, and somebody refunds it.
        add_event(cursor, "order-paid", {"orderId": order_id, "paymentId": payment_id, "paidAt": now()})


def relay(connection, producer):
    """Sends the next events and deletes them once Kafka has acknowledged all. Returns how many."""
    failures = []
    with connection, connection.cursor() as cursor:
        # The lock keeps another relay from sending a later event of the same order first.
        cursor.execute("lock table outbox in share update exclusive mode")
        cursor.execute("select position, topic, order_id, event from outbox order by position limit %s", (BATCH,))
        rows = cursor.fetchall()
        for _, topic, order_id, event in rows:
            producer.produce(
                topic, json.dumps(event), order_id, on_delivery=lambda error, _: error and failures.append(error)
            )
        producer.flush()
        if failures:
            raise RuntimeError(failures[0])
        cursor.execute("delete from outbox where position = any(%s)", ([row[0] for row in rows],))
    return len(rows)


def relay_forever():
    # Partitions like Kafka's Java client: all events of an order are in partitions of the same number.
    producer = Producer(
        {"bootstrap.servers": KAFKA, "acks": "all", "enable.idempotence": True, "partitioner": "murmur2_random"}
    )
    connection = None
    while True:
        try:
            connection = connection or psycopg2.connect(DATABASE_URL)
            if relay(connection, producer) > 0:
                continue
        except (psycopg2.Error, RuntimeError) as error:
            print("The outbox waits:", error, file=sys.stderr)
            connection = None
        time.sleep(IDLE_SECONDS)


def follow_cancellations():
    """Applies cancellations. One that comes twice changes nothing."""
    consumer = Consumer(
        {
            "bootstrap.servers": KAFKA,
            "group.id": TOPIC_PREFIX + "shop",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([TOPIC_PREFIX + "order-cancelled"])
    connection = None
    while True:
        message = consumer.poll(1)
        while message is not None and message.error() is None:
            try:
                connection = connection or psycopg2.connect(DATABASE_URL)
                with connection, connection.cursor() as cursor:
                    cursor.execute(
                        "update shop_order set state = 'CANCELLED' where id = %s and state = 'PENDING'",
                        (json.loads(message.value())["orderId"],),
                    )
                consumer.commit(message, asynchronous=False)
                break
            except psycopg2.Error as error:
                print("A cancellation waits:", error, file=sys.stderr)
                connection = None
                time.sleep(1)


def or_exit(work):
    """Ends the process with its threads, so that whatever started it starts it again."""
    try:
        work()
    finally:
        os._exit(1)


if __name__ == "__main__":
    command = sys.argv[1]
    if command == "create":
        create_order(psycopg2.connect(DATABASE_URL), sys.argv[2], sys.argv[3])
    elif command == "pay":
        pay_order(psycopg2.connect(DATABASE_URL), sys.argv[2], sys.argv[3])
    else:
        threading.Thread(target=or_exit, args=(follow_cancellations,)).start()
        or_exit(relay_forever)
