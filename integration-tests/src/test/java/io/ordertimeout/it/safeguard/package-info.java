/**
 * Removes the service's safeguards one at a time. This shows that each of them is needed, and that
 * the oracle notices when a promise is broken.
 */
@NullMarked
package io.ordertimeout.it.safeguard;

import org.jspecify.annotations.NullMarked;
