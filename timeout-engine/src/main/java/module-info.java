/**
 * Timing wheels for millions of deadlines in one process. Independent of orders, Kafka and
 * Postgres.
 */
module io.ordertimeout.engine {
  requires org.jctools.core;
  requires static transitive org.jspecify;

  exports io.ordertimeout.engine;
}
