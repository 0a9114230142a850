package io.ordertimeout.orders.platform.postgres;

/** The URL of Postgres cannot be parsed. The message does not quote it, because of its password. */
final class MalformedDatasourceUrlException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  MalformedDatasourceUrlException() {
    super(
        "spring.datasource.url is not a URL of Postgres. It is not printed, because it may contain"
            + " a password");
  }
}
