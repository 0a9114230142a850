package io.ordertimeout.orders.platform.kafka;

/** Thrown if topics are missing or not co-partitioned; names them and how to fix it. */
final class UnusableTopicsException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String action;

  UnusableTopicsException(String message, String action) {
    super(message);
    this.action = action;
  }

  String action() {
    return action;
  }
}
