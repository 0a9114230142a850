/**
 * Reads the service's own output topics back, so that what was published stays true even if
 * Postgres loses the commits behind it.
 */
@NullMarked
package io.ordertimeout.orders.readback;

import org.jspecify.annotations.NullMarked;
