/**
 * Support for all tests: the test environment, scenarios, a shop, and the service in this or
 * another process.
 */
@NullMarked
package io.ordertimeout.it.support;

import org.jspecify.annotations.NullMarked;
