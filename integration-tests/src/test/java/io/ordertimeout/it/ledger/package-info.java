/**
 * The oracle: what the shop said to Kafka, what the service made of it, and whether that keeps
 * every promise. It reads the log of Kafka and the tables of Postgres, and knows nothing of the
 * service's code.
 */
@NullMarked
package io.ordertimeout.it.ledger;

import org.jspecify.annotations.NullMarked;
