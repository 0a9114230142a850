package io.ordertimeout.orders.intake;

/**
 * Postgres rejects so many rows of a batch that the cause is more likely in Postgres than in the
 * rows, such as a wrong constraint. Dead-lettering them would empty the input topics.
 */
class SystemicRejectionException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  SystemicRejectionException(int rejected, int all, String lastRejection) {
    super(
        "Postgres rejected "
            + rejected
            + " of "
            + all
            + " events of a batch, which is retried until most of them are accepted; the last error: "
            + lastRejection);
  }
}
