/** Kafka or Postgres away, slow or refusing, at the start and in flight. */
@NullMarked
package io.ordertimeout.it.outage;

import org.jspecify.annotations.NullMarked;
