package io.ordertimeout.orders.platform.kafka;

/** Thrown if the input topics have changed since they were checked. */
public final class TopicLayoutChangedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  public TopicLayoutChangedException() {
    super("the input topics have changed and have to be checked again");
  }
}
