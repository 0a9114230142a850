/** Wrong and jumping clocks. */
@NullMarked
package io.ordertimeout.it.time;

import org.jspecify.annotations.NullMarked;
