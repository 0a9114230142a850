package io.ordertimeout.orders.platform.kafka;

/** The input topics are not what they were when they were checked. */
public final class TopicLayoutChangedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  public TopicLayoutChangedException() {
    super("the input topics have changed and are checked anew");
  }
}
