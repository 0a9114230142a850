package io.ordertimeout.orders.outbox;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;

/**
 * The id of an event, derived from its order and its payment or number, so that it stays the same
 * however often and by whichever instance the event is published: a name-based UUID, version 5 (RFC
 * 9562, section 5.5).
 */
public final class EventId {

  private static final UUID NAMESPACE = UUID.fromString("7b6a3a52-6f0e-5d5c-9d57-0e2f3c1a9b44");

  private EventId() {}

  /** Derives the id of an event. */
  public static UUID of(OutboxEvent event) {
    if (event instanceof OutboxEvent.PaymentConflict conflict) {
      return ofConflict(event.orderId(), conflict.paymentId());
    }
    if (event instanceof OutboxEvent.OrderExpiring expiring) {
      return ofWarning(event.orderId(), expiring.warning());
    }
    return ofCancellation(event.orderId());
  }

  /** Derives the id of the cancellation of an order. */
  public static UUID ofCancellation(String orderId) {
    return of("ORDER_CANCELLED", orderId, "");
  }

  /** Derives the id of a warning of an order. */
  public static UUID ofWarning(String orderId, int warning) {
    return of("ORDER_EXPIRING", orderId, String.valueOf(warning));
  }

  /** Derives the id of the conflict between an order and a payment. */
  public static UUID ofConflict(String orderId, String paymentId) {
    return of("ORDER_PAYMENT_CONFLICT", orderId, paymentId);
  }

  private static UUID of(String kind, String orderId, String subject) {
    // The length comes first, so that no two pairs of order and subject have the same name.
    return nameBased(kind + ":" + orderId.length() + ":" + orderId + subject);
  }

  private static UUID nameBased(String name) {
    MessageDigest sha1;
    try {
      sha1 = MessageDigest.getInstance("SHA-1");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
    sha1.update(
        ByteBuffer.allocate(16)
            .putLong(NAMESPACE.getMostSignificantBits())
            .putLong(NAMESPACE.getLeastSignificantBits())
            .flip());
    ByteBuffer hash = ByteBuffer.wrap(sha1.digest(name.getBytes(StandardCharsets.UTF_8)));
    long high = (hash.getLong() & ~0xF000L) | 0x5000L;
    long low = (hash.getLong() & ~(0b11L << 62)) | (0b10L << 62);
    return new UUID(high, low);
  }
}
