/**
 * The test oracle. It reads all topics and the order table from outside, reconstructs the history
 * of every order and checks it against the promises.
 */
@NullMarked
package io.ordertimeout.it.oracle;

import org.jspecify.annotations.NullMarked;
