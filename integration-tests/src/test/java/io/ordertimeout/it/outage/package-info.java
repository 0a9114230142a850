/** Outages and errors of Kafka and Postgres, at the start of the service and while it runs. */
@NullMarked
package io.ordertimeout.it.outage;

import org.jspecify.annotations.NullMarked;
