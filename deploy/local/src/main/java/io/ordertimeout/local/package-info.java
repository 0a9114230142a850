/**
 * Postgres, Kafka, the service and a shop's traffic in one process, for a first look and for tests.
 */
@NullMarked
package io.ordertimeout.local;

import org.jspecify.annotations.NullMarked;
