/**
 * What becomes of the promises when one of the service's safeguards is taken away, so that it is
 * known of each that it is needed, and of the oracle that it would notice.
 */
@NullMarked
package io.ordertimeout.it.safeguard;

import org.jspecify.annotations.NullMarked;
