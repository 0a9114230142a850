/** Decides due orders, once their payments are known to be read. */
@NullMarked
package io.ordertimeout.orders.expiry;

import org.jspecify.annotations.NullMarked;
