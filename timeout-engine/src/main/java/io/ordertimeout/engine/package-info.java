/** Timing wheels for millions of deadlines, independent of orders, Kafka and Postgres. */
@NullMarked
package io.ordertimeout.engine;

import org.jspecify.annotations.NullMarked;
