/** The service with what the documents tell their readers to use. */
@NullMarked
package io.ordertimeout.it.documents;

import org.jspecify.annotations.NullMarked;
