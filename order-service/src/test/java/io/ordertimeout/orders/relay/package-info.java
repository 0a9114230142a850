/** Tests of the publication of events. */
@NullMarked
package io.ordertimeout.orders.relay;

import org.jspecify.annotations.NullMarked;
