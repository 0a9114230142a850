/**
 * Judges a run from outside: reads all topics and tables and holds every order against the
 * promises.
 */
@NullMarked
package io.ordertimeout.it.oracle;

import org.jspecify.annotations.NullMarked;
