package io.ordertimeout.it.observability;

/** Replaces the variables of a query, as Grafana does before it runs the query. */
final class Grafana {

  private Grafana() {}

  /**
   * Returns the query with the values that its variables have where a Prometheus scrapes one
   * release, and neither its cluster nor its namespace is known.
   */
  static String filledIn(String query) {
    String filled =
        query
            .replace("$__rate_interval", "1m")
            .replace("$__range", "1h")
            .replace("$cluster", "")
            .replace("$namespace", "")
            .replace("$application", "order-timeout")
            .replace("$instance", ".+")
            .replace("$shard", ".+");
    if (filled.contains("$")) {
      throw new IllegalArgumentException("a variable that is not known here: " + query);
    }
    return filled;
  }
}
