/** Postgres: its clock, its schema and its errors. */
@NullMarked
package io.ordertimeout.orders.platform.postgres;

import org.jspecify.annotations.NullMarked;
