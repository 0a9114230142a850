/** Checks the specification of the protocol in {@code src/main/tla} with TLC. */
@NullMarked
package io.ordertimeout.model;

import org.jspecify.annotations.NullMarked;
