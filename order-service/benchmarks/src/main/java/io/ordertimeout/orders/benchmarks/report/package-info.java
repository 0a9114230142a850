/** Figures as tables and plots. */
@NullMarked
package io.ordertimeout.orders.benchmarks.report;

import org.jspecify.annotations.NullMarked;
