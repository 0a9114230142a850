/** The whole service against a real Kafka and a real Postgres, seen from outside. */
@NullMarked
package io.ordertimeout.it;

import org.jspecify.annotations.NullMarked;
