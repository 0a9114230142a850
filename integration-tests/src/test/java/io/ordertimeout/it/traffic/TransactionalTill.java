package io.ordertimeout.it.traffic;

import io.ordertimeout.it.oracle.Acknowledgements;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.traffic.Message.Delivery;
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
 * A till that takes payments in transactions, several in one, and ends all of them in the same way.
 * A transaction that fails is aborted, its payments are in doubt; the till then opens anew.
 */
final class TransactionalTill implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(TransactionalTill.class);
  private static final int MOST = 50;
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private final Scenario scenario;
  private final Delivery delivery;
  private final Acknowledgements acknowledgements;
  private final BlockingQueue<Message> waiting = new LinkedBlockingQueue<>();
  private final Thread thread;
  private volatile boolean closing;

  private TransactionalTill(
      Scenario scenario, Delivery delivery, Acknowledgements acknowledgements) {
    this.scenario = scenario;
    this.delivery = delivery;
    this.acknowledgements = acknowledgements;
    this.thread = new Thread(this::run, "till-" + delivery);
  }

  static TransactionalTill open(
      Scenario scenario, Delivery delivery, Acknowledgements acknowledgements) {
    TransactionalTill till = new TransactionalTill(scenario, delivery, acknowledgements);
    till.thread.start();
    return till;
  }

  void take(Message payment) {
    waiting.add(payment);
  }

  private void run() {
    Shop shop = null;
    try {
      while (!closing || !waiting.isEmpty()) {
        List<Message> payments = next();
        if (payments.isEmpty()) {
          continue;
        }
        try {
          if (shop == null) {
            shop = scenario.transactionalShop(scenario.name() + "-" + delivery);
          }
          transact(shop, payments);
        } catch (KafkaException | ExecutionException e) {
          log.info("{} payments are in doubt: {}", payments.size(), e.toString());
          payments.forEach(payment -> acknowledgements.doubt());
          abandon(shop);
          shop = null;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      abandon(shop);
    }
  }

  private List<Message> next() throws InterruptedException {
    List<Message> payments = new ArrayList<>();
    Message first = waiting.poll(200, TimeUnit.MILLISECONDS);
    if (first != null) {
      payments.add(first);
      waiting.drainTo(payments, MOST - 1);
    }
    return payments;
  }

  private void transact(Shop shop, List<Message> payments)
      throws ExecutionException, InterruptedException {
    shop.transactions().beginTransaction();
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    for (Message payment : payments) {
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
    // The customer types: until then the transaction is open.
    Instant end = payments.stream().map(Message::doneAt).max(Instant::compareTo).orElseThrow();
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

  private static void abandon(@Nullable Shop shop) {
    if (shop != null) {
      shop.close();
    }
  }

  /** Ends the last transaction and returns. */
  void finish() {
    closing = true;
    try {
      thread.join(PATIENCE.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (thread.isAlive()) {
      throw new IllegalStateException("the till of " + delivery + " does not close");
    }
  }

  @Override
  public void close() {
    closing = true;
    thread.interrupt();
  }
}
