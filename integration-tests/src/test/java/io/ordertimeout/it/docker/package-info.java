/** The service as its image runs it, as far as that can be tried without Docker. */
@NullMarked
package io.ordertimeout.it.docker;

import org.jspecify.annotations.NullMarked;
