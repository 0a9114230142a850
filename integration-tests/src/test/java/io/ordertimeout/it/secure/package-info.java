/** Kafka and Postgres that have to be proved, and that ask their clients to prove themselves. */
@NullMarked
package io.ordertimeout.it.secure;

import org.jspecify.annotations.NullMarked;
