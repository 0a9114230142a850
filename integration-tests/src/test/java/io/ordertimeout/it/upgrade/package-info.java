/** Two versions of the service side by side, as during a rolling upgrade. */
@NullMarked
package io.ordertimeout.it.upgrade;

import org.jspecify.annotations.NullMarked;
