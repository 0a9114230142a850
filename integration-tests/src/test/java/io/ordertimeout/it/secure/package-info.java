/** Kafka and Postgres with TLS and authentication. */
@NullMarked
package io.ordertimeout.it.secure;

import org.jspecify.annotations.NullMarked;
