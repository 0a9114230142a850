/** Authentication and authorization of the HTTP API and the console. */
@NullMarked
package io.ordertimeout.orders.access;

import org.jspecify.annotations.NullMarked;
