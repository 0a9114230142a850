package io.ordertimeout.it.traffic;

import io.ordertimeout.it.oracle.Acknowledgements;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.traffic.ScheduledEvent.Delivery;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A producer of payments that sends several in one transaction and ends every transaction the same
 * way. After a failed transaction the outcome of its payments is unknown, and the producer is
 * recreated.
 */
final class TransactionalPaymentProducer implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(TransactionalPaymentProducer.class);
  private static final int MAX_PAYMENTS = 50;
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private final Scenario scenario;
  private final Delivery delivery;
  private final Acknowledgements acknowledgements;
  private final BlockingQueue<ScheduledEvent> waiting = new LinkedBlockingQueue<>();
  private final Thread thread;
  private volatile boolean closing;

  private TransactionalPaymentProducer(
      Scenario scenario, Delivery delivery, Acknowledgements acknowledgements) {
    this.scenario = scenario;
    this.delivery = delivery;
    this.acknowledgements = acknowledgements;
    this.thread = new Thread(this::run, "payments-" + delivery);
  }

  static TransactionalPaymentProducer open(
      Scenario scenario, Delivery delivery, Acknowledgements acknowledgements) {
    TransactionalPaymentProducer producer =
        new TransactionalPaymentProducer(scenario, delivery, acknowledgements);
    producer.thread.start();
    return producer;
  }

  void add(ScheduledEvent payment) {
    waiting.add(payment);
  }

  private void run() {
    Shop shop = null;
    try {
      while (!closing || !waiting.isEmpty()) {
        List<ScheduledEvent> payments = next();
        if (payments.isEmpty()) {
          continue;
        }
        try {
          if (shop == null) {
            shop = scenario.transactionalShop(scenario.name() + "-" + delivery);
          }
          transact(shop, payments);
        } catch (KafkaException | ExecutionException e) {
          log.info("The outcome of {} payments is unknown: {}", payments.size(), e.toString());
          payments.forEach(payment -> acknowledgements.addUnknown());
          closeIfOpen(shop);
          shop = null;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      closeIfOpen(shop);
    }
  }

  private List<ScheduledEvent> next() throws InterruptedException {
    List<ScheduledEvent> payments = new ArrayList<>();
    ScheduledEvent first = waiting.poll(200, TimeUnit.MILLISECONDS);
    if (first != null) {
      payments.add(first);
      waiting.drainTo(payments, MAX_PAYMENTS - 1);
    }
    return payments;
  }

  private void transact(Shop shop, List<ScheduledEvent> payments)
      throws ExecutionException, InterruptedException {
    shop.transactions().beginTransaction();
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    for (ScheduledEvent payment : payments) {
      sent.add(
          shop.send(scenario.topics().paid(), payment.orderId(), payment.fields())
              .whenComplete(
                  (metadata, failure) -> {
                    if (failure == null) {
                      acknowledgements.add(metadata);
                    }
                  }));
    }
    for (Future<RecordMetadata> payment : sent) {
      payment.get();
    }
    // The transaction stays open for the time that the customer takes.
    Instant end =
        payments.stream().map(ScheduledEvent::endsAt).max(Instant::compareTo).orElseThrow();
    long left = Math.min(Duration.between(Instant.now(), end).toMillis(), 500);
    if (left > 0) {
      TimeUnit.MILLISECONDS.sleep(left);
    }
    if (delivery == Delivery.ABORTED) {
      shop.transactions().abortTransaction();
      return;
    }
    shop.transactions().commitTransaction();
    for (Future<RecordMetadata> payment : sent) {
      acknowledgements.commit(payment.get());
    }
  }

  private static void closeIfOpen(@Nullable Shop shop) {
    if (shop != null) {
      shop.close();
    }
  }

  /** Returns once the last transaction has ended. */
  void finish() {
    closing = true;
    try {
      thread.join(PATIENCE.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (thread.isAlive()) {
      throw new IllegalStateException("the producer of " + delivery + " payments does not finish");
    }
  }

  @Override
  public void close() {
    closing = true;
    thread.interrupt();
  }
}
