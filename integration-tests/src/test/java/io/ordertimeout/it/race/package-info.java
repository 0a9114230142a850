/** Races between payment and expiry. */
@NullMarked
package io.ordertimeout.it.race;

import org.jspecify.annotations.NullMarked;
