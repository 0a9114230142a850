/** Generates the traffic of a shop, in which each order follows a script. */
@NullMarked
package io.ordertimeout.it.traffic;

import org.jspecify.annotations.NullMarked;
