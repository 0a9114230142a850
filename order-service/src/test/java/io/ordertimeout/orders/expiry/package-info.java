/** Tests of the expiry. */
@NullMarked
package io.ordertimeout.orders.expiry;

import org.jspecify.annotations.NullMarked;
