@NullMarked
package io.ordertimeout.orders.api;

import org.jspecify.annotations.NullMarked;
