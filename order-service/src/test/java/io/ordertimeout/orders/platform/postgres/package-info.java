/** Tests of the Postgres support. */
@NullMarked
package io.ordertimeout.orders.platform.postgres;

import org.jspecify.annotations.NullMarked;
