/** The Docker images and compose files, tested without Docker. */
@NullMarked
package io.ordertimeout.it.docker;

import org.jspecify.annotations.NullMarked;
