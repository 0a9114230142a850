/** Timing wheels for very many deadlines. Knows nothing of orders, Kafka or Postgres. */
@NullMarked
package io.ordertimeout.engine;

import org.jspecify.annotations.NullMarked;
