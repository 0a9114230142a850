package io.ordertimeout.orders.platform.kafka;

/** The topics are not as the service needs them; the message says which and what to do. */
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
