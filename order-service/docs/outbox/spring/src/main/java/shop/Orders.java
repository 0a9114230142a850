package shop;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** The orders of the shop. Each change and the event about it are one transaction. */
@Service
public class Orders {

  private final JdbcClient client;
  private final Outbox outbox;

  Orders(JdbcClient client, Outbox outbox) {
    this.client = client;
    this.outbox = outbox;
  }

  /** Creates an order that has to be paid in that time. */
  @Transactional
  public void create(String orderId, Duration timeToPay) {
    client.sql("insert into shop_order (id) values (?)").param(orderId).update();
    outbox.add(
        "order-created",
        orderId,
        Map.of(
            "orderId",
            orderId,
            "createdAt",
            Instant.now().toString(),
            "timeout",
            timeToPay.toString()));
  }

  /**
   * Records a payment. It is also told of an order that is cancelled: it becomes an
   * order-payment-conflict, and somebody refunds it.
   */
  @Transactional
  public void pay(String orderId, String paymentId) {
    client
        .sql(
            "update shop_order set state = 'PAID', payment_id = ? where id = ? and state ="
                + " 'PENDING'")
        .params(paymentId, orderId)
        .update();
    outbox.add(
        "order-paid",
        orderId,
        Map.of("orderId", orderId, "paymentId", paymentId, "paidAt", Instant.now().toString()));
  }

  /** Applies a cancellation. One that comes twice changes nothing. */
  @Transactional
  public void cancel(String orderId) {
    client
        .sql("update shop_order set state = 'CANCELLED' where id = ? and state = 'PENDING'")
        .param(orderId)
        .update();
  }
}
