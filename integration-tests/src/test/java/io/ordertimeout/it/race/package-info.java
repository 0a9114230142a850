/** Two things at the same instant. */
@NullMarked
package io.ordertimeout.it.race;

import org.jspecify.annotations.NullMarked;
