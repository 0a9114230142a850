/** Clocks that are wrong or jump. */
@NullMarked
package io.ordertimeout.it.time;

import org.jspecify.annotations.NullMarked;
