/**
 * Local demo: the service, simulated shop traffic and a periodic report in one process, on embedded
 * Postgres and Kafka.
 */
@NullMarked
package io.ordertimeout.local;

import org.jspecify.annotations.NullMarked;
