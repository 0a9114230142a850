/** Benchmarks that compare the timing wheel with similar implementations in one run. */
@NullMarked
package io.ordertimeout.benchmarks;

import org.jspecify.annotations.NullMarked;
