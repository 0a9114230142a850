package io.ordertimeout.it.observability;

/** Replaces the variables of a query, as Grafana does before it runs the query. */
final class Grafana {

  private Grafana() {}

  /** Returns the query with the default values of its variables. */
  static String filledIn(String query) {
    String filled =
        query
            .replace("$__rate_interval", "1m")
            .replace("$__range", "1h")
            .replace("$instance", ".+")
            .replace("$shard", ".+");
    if (filled.contains("$")) {
      throw new IllegalArgumentException("a variable that is not known here: " + query);
    }
    return filled;
  }
}
