/** The order timeout service; each package below is one step of the way of an event. */
@NullMarked
package io.ordertimeout.orders;

import org.jspecify.annotations.NullMarked;
