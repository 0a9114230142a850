/** A real Postgres and a real Kafka on the loopback address, without Docker. */
@NullMarked
package io.ordertimeout.embedded;

import org.jspecify.annotations.NullMarked;
