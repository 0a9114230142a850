/** What operators do and see, over HTTP. */
@NullMarked
package io.ordertimeout.orders.api;

import org.jspecify.annotations.NullMarked;
