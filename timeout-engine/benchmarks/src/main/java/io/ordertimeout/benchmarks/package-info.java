/** The timing wheel against its peers: every figure from one run, on one machine. */
@NullMarked
package io.ordertimeout.benchmarks;

import org.jspecify.annotations.NullMarked;
