/** Tests of the publication of events. */
@NullMarked
package io.ordertimeout.orders.platform.loop;

import org.jspecify.annotations.NullMarked;
