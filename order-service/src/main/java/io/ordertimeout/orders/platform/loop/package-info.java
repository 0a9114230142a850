/** Threads that repeat something for as long as the instance runs, and their health. */
@NullMarked
package io.ordertimeout.orders.platform.loop;

import org.jspecify.annotations.NullMarked;
