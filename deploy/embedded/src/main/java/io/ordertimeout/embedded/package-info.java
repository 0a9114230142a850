/** Embedded Postgres and Kafka: the real servers, bound to the loopback address, without Docker. */
@NullMarked
package io.ordertimeout.embedded;

import org.jspecify.annotations.NullMarked;
