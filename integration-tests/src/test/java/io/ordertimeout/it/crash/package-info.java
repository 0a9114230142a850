/** Crashes and restarts of the service. */
@NullMarked
package io.ordertimeout.it.crash;

import org.jspecify.annotations.NullMarked;
