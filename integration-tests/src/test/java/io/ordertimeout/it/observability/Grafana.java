package io.ordertimeout.it.observability;

/** The substitutions that Grafana makes in a query. */
final class Grafana {

  private Grafana() {}

  /** The query with the initial values of its variables. */
  static String filledIn(String query) {
    String filled =
        query
            .replace("$__rate_interval", "1m")
            .replace("$__range", "1h")
            .replace("$instance", ".+");
    if (filled.contains("$")) {
      throw new IllegalArgumentException("a variable that is not known here: " + query);
    }
    return filled;
  }
}
