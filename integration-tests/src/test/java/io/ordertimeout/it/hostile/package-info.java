/** Input that nobody who means well would send. */
@NullMarked
package io.ordertimeout.it.hostile;

import org.jspecify.annotations.NullMarked;
