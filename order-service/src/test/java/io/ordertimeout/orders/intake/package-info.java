@NullMarked
package io.ordertimeout.orders.intake;

import org.jspecify.annotations.NullMarked;
