/** Tests of loops and periodic tasks. */
@NullMarked
package io.ordertimeout.orders.platform.loop;

import org.jspecify.annotations.NullMarked;
