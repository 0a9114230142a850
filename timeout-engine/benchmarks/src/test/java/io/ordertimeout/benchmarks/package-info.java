/** Tests of the benchmarks. */
@NullMarked
package io.ordertimeout.benchmarks;

import org.jspecify.annotations.NullMarked;
